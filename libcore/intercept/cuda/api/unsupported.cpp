// Functions of the runtime that the emulator does not have. Arguments are ignored.
#include "intercept/cuda/errors.hpp"

using kernelcast::cudart::Code;

#define KERNELCAST_UNSUPPORTED(function)               \
  KERNELCAST_CUDA_EXPORT Code function() {             \
    return kernelcast::cudart::unsupported(#function); \
  }
#include "intercept/cuda/api/unsupported.def"
