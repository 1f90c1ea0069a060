// seqprof-cc, seqprof-c++: compilers that build instrumented programs, for existing Makefiles: make CC=seqprof-cc.
// What to profile is said by SEQPROF_KERNEL and its like when the program is linked (default main); the program then
// writes its profile to seqprof.csv, or where KERNELCAST_SEQPROF_OUTPUT says, when it ends.
#include <cstdio>

#include "diag/diag.hpp"
#include "process/ending.hpp"
#include "seq/driver/wrapper.hpp"

int main(int argc, char** argv) {
  std::string const name = argv[0];
  bool const cxx = name.size() >= 3 && name.compare(name.size() - 3, 3, "c++") == 0;
  kernelcast::clean_up_at_signals();
  try {
    return kernelcast::seq::call_compiler({argv + 1, argv + argc}, cxx, kernelcast::seq::target_from_environment());
  } catch (kernelcast::Error const& error) {
    std::fputs(error.text(cxx ? "seqprof-c++" : "seqprof-cc").c_str(), stderr);
    return static_cast<int>(error.status());
  } catch (std::exception const& error) {
    std::fprintf(stderr, "%s: error: %s\n", cxx ? "seqprof-c++" : "seqprof-cc", error.what());
    return static_cast<int>(kernelcast::Status::io);
  }
}
