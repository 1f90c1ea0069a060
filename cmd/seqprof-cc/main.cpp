// seqprof-cc, seqprof-c++: compilers that build instrumented programs, for existing Makefiles: make CC=seqprof-cc.
// SEQPROF_KERNEL and its like select what to profile when the program is linked (default main); the program then
// writes its profile to seqprof.csv, or where KERNELCAST_SEQPROF_OUTPUT says, when it ends.
#include <string_view>

#include "diag/ending.hpp"
#include "process/ending.hpp"
#include "seq/driver/wrapper.hpp"

[[gnu::init_priority(101)]] static kernelcast::EndsInOrder const ends_in_order;

int main(int argc, char** argv) {
  std::string_view const name = argv[0];
  bool const cxx = name.ends_with("c++");
  kernelcast::clean_up_at_signals();
  try {
    return kernelcast::seq::call_compiler({argv + 1, argv + argc}, cxx, kernelcast::seq::target_from_environment());
  } catch (...) {
    return kernelcast::report_exception(cxx ? "seqprof-c++" : "seqprof-cc");
  }
}
