// Measuring the kernels of an application: time and power of each, while it runs. [braun] section 5.3
//
// Method: the application runs as a child with our library before its CUDA runtime (LD_PRELOAD, preload.cpp), which
// repeats each kernel with each configuration once for at least a second and leaves a row.
// Limits: applications linked with the shared CUDA runtime. A kernel is repeated on what its last run left (its input
// is put back at the end only): one whose work depends on what it changes, or that waits for the host, is one to skip.
// Other threads of the application that use the device meanwhile disturb what is measured.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "records/target.hpp"

namespace kernelcast::attach::collect {

struct Options {
  std::vector<std::string> command;
  double seconds = 1;  // to repeat each kernel for
  bool power = true;
  std::vector<std::string> skip;  // kernels not to repeat
};

struct Collected {
  std::vector<record::Target> rows;  // devices by their own names
  int status = 0;                    // the application's exit status; 128 + signal where a signal ended it
};

// The application's own input and output are untouched. Throws Error: unavailable (no NVML where power is requested,
// the library is not installed), io (the application cannot be started).
Collected collect(Options const&);

}  // namespace kernelcast::attach::collect
