// seqprof-cc, seqprof-c++: compilers that build instrumented programs, for existing Makefiles: make CC=seqprof-cc.
// SEQPROF_KERNEL and its like select what to profile when the program is linked (default main); the program then
// writes its profile to seqprof.csv, or where KERNELCAST_SEQPROF_OUTPUT says, when it ends.
#include <cstdio>
#include <string_view>

#include "base/diag/ending.hpp"
#include "base/process/ending.hpp"
#include "sequential/driver/wrapper.hpp"

[[gnu::init_priority(101)]] static kernelcast::EndsInOrder const ends_in_order;

namespace {

// Before the compiler's own page.
constexpr char const* help = R"(Usage: %s COMPILER-ARGUMENT...
compile and link programs that profile one function and all that it calls

The program behaves as before and writes its profile when it ends. seqprof, which
runs such a compiler by itself, has the same profiles of sources or of commands.

When the program is linked:
  SEQPROF_KERNEL=NAME     the function to profile (default: main)
  SEQPROF_REGION=NAME     the region to profile instead
  SEQPROF_DEPENDENCES=raw|all
  SEQPROF_INVOCATIONS=1   rows of each call of the function
  SEQPROF_OTHERS=1        link programs without such a function as they are
When it runs:
  KERNELCAST_SEQPROF_OUTPUT=FILE
                          the profile (default: seqprof.csv)

Example:
  SEQPROF_KERNEL=solve make CC=seqprof-cc

Manual: man seqprof-cc

All arguments are the compiler's:

)";

}  // namespace

int main(int argc, char** argv) {
  std::string_view const name = argv[0];
  bool const cxx = name.ends_with("c++");
  kernelcast::clean_up_at_signals();
  if (argc == 2 && std::string_view(argv[1]) == "--help") {
    std::printf(help, cxx ? "seqprof-c++" : "seqprof-cc");
    std::fflush(stdout);
  }
  try {
    return kernelcast::seq::call_compiler({argv + 1, argv + argc}, cxx, kernelcast::seq::target_from_environment());
  } catch (...) {
    return kernelcast::report_exception(cxx ? "seqprof-c++" : "seqprof-cc");
  }
}
