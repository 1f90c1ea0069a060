// Counting an application: its CUDA kernels are replaced by instrumented ones as it starts.
//
// Method: the application runs as a child with our library before its CUDA runtime (LD_PRELOAD, preload.cpp), which
// leaves rows in files, one per process.
// Limits: applications linked with the shared CUDA runtime, whose fat binaries hold PTX.
#pragma once

#include <string>
#include <vector>

namespace kernelcast::attach::count {

struct AttachResult {
  std::vector<std::string> row_files;  // CSV, in the folder that was given
  int status = 0;                      // the application's exit status; 128 + signal where a signal ended it
};

// `emit`: counts, groups or features. The application's own input and output are untouched. Throws Error:
// unavailable (the library was not built or installed), io (the application cannot be started).
AttachResult run(std::vector<std::string> const& command, std::string const& emit, std::string const& folder);

}  // namespace kernelcast::attach::count
