// Every function of the driver that our programs look for: what driver.cpp does not define is not supported.
#include "probe/cuda/api.hpp"

#define KERNELCAST_STUB(member, symbol, arguments)                                             \
  extern "C" __attribute__((weak, visibility("default"))) int stub_##member() __asm__(symbol); \
  extern "C" int stub_##member() {                                                             \
    return 801;                                                                                \
  }
KERNELCAST_CUDA_FUNCTIONS(KERNELCAST_STUB)
