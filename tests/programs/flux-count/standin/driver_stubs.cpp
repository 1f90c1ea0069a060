// Every function of the driver that our programs look for: what driver.cpp does not define is not supported.
#define KERNELCAST_DRIVER_CALLED(member, symbol, parameters)                                    \
  extern "C" __attribute__((weak, visibility("default"))) int stub_##member() __asm__(#symbol); \
  extern "C" int stub_##member() {                                                              \
    return 801;                                                                                 \
  }
#include "kernels/cuda/driver_entry_points.def"
