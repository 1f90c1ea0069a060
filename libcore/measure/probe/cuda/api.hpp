// The CUDA driver and NVRTC as devprobe and flux-count use them: by dlopen, so that the programs are built without a
// toolkit and run without a driver. NVRTC's names are those of nvrtc.h.
#pragma once

#include <cstddef>
#include <string>

#include "kernels/cuda/driver.hpp"

namespace kernelcast::probe::cuda {

using namespace kernelcast::driver;
using cudart::FunctionAttribute;
using Program = struct ProgramTag*;  // nvrtcProgram

#define KERNELCAST_NVRTC_FUNCTIONS(X)                                                                                \
  X(create, "nvrtcCreateProgram", (Program*, char const*, char const*, int, char const* const*, char const* const*)) \
  X(destroy, "nvrtcDestroyProgram", (Program*))                                                                      \
  X(compile, "nvrtcCompileProgram", (Program, int, char const* const*))                                              \
  X(ptx_size, "nvrtcGetPTXSize", (Program, std::size_t*))                                                            \
  X(ptx, "nvrtcGetPTX", (Program, char*))                                                                            \
  X(log_size, "nvrtcGetProgramLogSize", (Program, std::size_t*))                                                     \
  X(log, "nvrtcGetProgramLog", (Program, char*))                                                                     \
  X(version, "nvrtcVersion", (int*, int*))

struct Driver {
#define KERNELCAST_DRIVER_CALLED(member, symbol, parameters) Code(*member) parameters = nullptr;
#include "kernels/cuda/driver_entry_points.def"
  std::string missing;  // why it cannot be used; empty when it can
};
#define KERNELCAST_DECLARE(member, symbol, arguments) int(*member) arguments = nullptr;
struct Compiler {
  KERNELCAST_NVRTC_FUNCTIONS(KERNELCAST_DECLARE)
  std::string missing;
};
#undef KERNELCAST_DECLARE

Driver const& driver();      // loaded and initialised at the first call
Compiler const& compiler();  // likewise

// PTX of a source text by NVRTC for `architecture` ("compute_75"). Throws Error(unavailable) with the first error of
// the log.
std::string compile(std::string const& source, std::string const& architecture);

}  // namespace kernelcast::probe::cuda
