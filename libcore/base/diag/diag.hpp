// Errors that a user can act on: where, what, and what to do next.
//
// One exception type for everything that is wrong with the input, the options or the machine. It is thrown where the
// fact is known and caught in cli::tool_main alone, which prints it and ends with its exit status.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kernelcast {

// Exit statuses of every program of the suite; listed in each man page.
enum class Status : int {
  done = 0,
  finding = 1,      // a finding about the input program: out-of-bounds access, race, deadlock, measured regression
  usage = 2,        // the command line
  bad_data = 3,     // the content of an input
  io = 4,           // a file or stream that cannot be opened, read or written
  unavailable = 5,  // no such device or capability
  limit = 6,        // --max-steps, --max-memory, --timeout
};

// A place in an input. Lines and columns count from 1; 0 means unknown. Columns count bytes.
struct Where {
  std::string file;
  std::size_t line = 0;
  std::size_t column = 0;
};

class Error : public std::runtime_error {
 public:
  Error(Status status, std::string const& message, std::string hint = {});
  Error(Status status, Where where, std::string const& message, std::string hint = {}, std::string source_line = {});

  Status status() const { return status_; }
  Where const& where() const { return where_; }
  std::string const& hint() const { return hint_; }
  // Something else that is wrong, of the same status: its text follows.
  void add(Error further) { further_.push_back(std::move(further)); }
  std::vector<Error> const& further() const { return further_; }

  // `in.csv:7:3: error: column 'time_s': expected a number, got '1.5ms'`, the line with a caret, `hint: …`;
  // ends in a newline. Without a place the text begins with `program: error: …`.
  std::string text(std::string_view program) const;

 private:
  Status status_;
  Where where_;
  std::string hint_;
  std::string source_line_;
  std::vector<Error> further_;
};

// The candidates nearest to `name` (edit distance at most a third of its length, at least 2), best first, at most
// three.
std::vector<std::string> nearest(std::string_view name, std::vector<std::string> const& candidates);

// "did you mean 'time_s'?" for the nearest candidates; where none is near, "known: a, b, c" with at most `most` of
// them.
std::string did_you_mean(std::string_view name, std::vector<std::string> const& candidates, std::size_t most = 12);

// "16 MiB", rounded down.
std::string mebibytes(std::size_t bytes);

}  // namespace kernelcast
