// The runtime is the next library that has the function: we were loaded before it.
#include <dlfcn.h>

#include "flux/attach/runtime.hpp"

void* kernelcast::flux::runtime::find(char const* name) {
  return dlsym(RTLD_NEXT, name);
}
