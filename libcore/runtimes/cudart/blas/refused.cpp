// Functions of cuBLAS that the emulator does not have. Arguments are ignored.
#include "runtimes/cudart/blas/handle.hpp"

#define KERNELCAST_BLAS_REFUSED(function)                              \
  KERNELCAST_CUDA_EXPORT kernelcast::cudart::blas::Status function() { \
    return kernelcast::cudart::blas::refused(#function);               \
  }
#include "runtimes/cudart/blas/entry_points.def"
