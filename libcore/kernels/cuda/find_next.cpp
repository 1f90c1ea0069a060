// The runtime is the next library that has the function: we were loaded before it.
#include <dlfcn.h>

#include "kernels/cuda/next.hpp"

void* kernelcast::cudart::find(char const* name) {
  return dlsym(RTLD_NEXT, name);
}
