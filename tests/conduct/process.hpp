// Runs a program under odd conditions: closed or full streams, broken pipes, terminals, little memory.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace conduct {

struct Run {
  std::vector<std::string> arguments;  // arguments[0] is found in PATH
  std::string directory = ".";
  std::vector<std::pair<std::string, std::string>> environment;  // set beside the inherited one
  std::string input;                                             // standard input, by a pipe
  std::uint64_t endless_bytes = 0;                               // so many 'x' after `input`
  enum class Stdin { pipe, closed, terminal } in = Stdin::pipe;
  enum class Stdout { captured, closed, full, broken_pipe } out = Stdout::captured;
  bool terminal_on_stderr = false;
  std::uint64_t memory_bytes = 0;  // limit of the address space; 0: none
  // SIGTERM as soon as this is true of the process; its input does not end before. Empty: never.
  std::function<bool(pid_t)> terminate_when;
  double give_up_after_s = 600;  // SIGKILL then: for programs that hang
};

struct Outcome {
  std::string out, err;
  int status = 0;  // exit status
  int signal = 0;  // that ended it
  bool too_slow = false;
  double seconds = 0;
};

// Thrown where this machine cannot make the condition; the check is then skipped.
struct Skip {
  std::string why;
};

Outcome run(Run const&);

}  // namespace conduct
