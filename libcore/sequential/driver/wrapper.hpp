// seqprof-cc takes a compiler's place: what is compiled becomes bitcode in place of objects, what is linked is
// instrumented.
#pragma once

#include <string>
#include <vector>

#include "sequential/driver/compile.hpp"

namespace kernelcast::seq {

// What SEQPROF_KERNEL, SEQPROF_REGION, SEQPROF_DEPENDENCES (raw or all) and SEQPROF_INVOCATIONS (1) say. Throws
// Error(usage).
Target target_from_environment();

// Does it; gives the exit status. Warnings of the compiler go to standard error. `cxx`: as a C++ compiler.
int call_compiler(std::vector<std::string> const& arguments, bool cxx, Target const&);

}  // namespace kernelcast::seq
