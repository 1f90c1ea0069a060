// The command line of a compiler, as seqprof-cc takes it in the compiler's place: what is compiled becomes bitcode in
// place of objects, what is linked is instrumented.
#pragma once

#include <string>
#include <vector>

#include "seq/driver/compile.hpp"

namespace kernelcast::seq {

struct CompilerCall {
  std::vector<std::string> sources;
  std::vector<std::string> flags;    // for compiling
  std::vector<std::string> objects;  // objects, archives and linker options, in their order
  std::string output;                // of -o; empty where none
  bool compile_only = false;         // -c
  bool other = false;                // -E, -S, -M, --version, …: nothing for us
};
CompilerCall parse_compiler_call(std::vector<std::string> const& arguments);

// What SEQPROF_KERNEL, SEQPROF_REGION, SEQPROF_DEPENDENCES (raw or all) and SEQPROF_INVOCATIONS (1) say. Throws
// Error(usage).
Target target_from_environment();

// Does it; gives the exit status.
int call_compiler(std::vector<std::string> const& arguments, bool cxx, Target const&);

}  // namespace kernelcast::seq
