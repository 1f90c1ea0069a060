// Error codes: what each is called, and what a thread's last one was.
#pragma once

#include <string>
#include <string_view>

#include "emulator/emu.hpp"
#include "kernels/cuda/abi.hpp"

namespace kernelcast::cudart {

char const* official_name(Code);  // "cudaErrorInvalidValue"
char const* driver_name(Code);    // "CUDA_ERROR_INVALID_VALUE"; null where the driver has no such code
char const* description(Code);    // "invalid argument"

// Remembered as this thread's last error, unless it is success; returned.
Code remembered(Code);
Code last_error();
Code take_last_error();
// This thread has called the runtime, not the driver alone.
bool runtime_called();
// For as long as it lives nothing of that is noted: the driver's calls are made of the runtime's.
class LastErrorKept {
 public:
  LastErrorKept();
  ~LastErrorKept();
  LastErrorKept(LastErrorKept const&) = delete;

 private:
  Code before_;
  bool called_;
};

// What a kernel that was ended by this finding leaves behind: it stays until the device is reset.
Code code_of(emu::Finding::Kind);

// A line on standard error, begun with our name; once for each text.
void report(std::string const& text);
// The call is named on standard error, once.
Code unsupported(std::string_view call);

}  // namespace kernelcast::cudart
