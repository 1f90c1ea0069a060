// Functions of the runtime that the emulator does not have. Arguments are ignored.
#include "runtimes/cudart/errors.hpp"

using kernelcast::cudart::Code;

#define KERNELCAST_REFUSED(function)                   \
  KERNELCAST_CUDA_EXPORT Code function() {             \
    return kernelcast::cudart::unsupported(#function); \
  }
#include "kernels/cuda/entry_points.def"
