#include "runtimes/cudart/driver/call.hpp"

#include <dlfcn.h>

namespace kernelcast::driver {

Code of_runtime(Code code) {
  if (cudart::driver_name(code)) return code;
  return code == Code::invalid_device_function || code == Code::invalid_symbol ? Code::symbol_not_found
                                                                               : Code::invalid_value;
}

void* find_of_runtime(char const* name) {
  static void* const library = [] {
    Dl_info where{};
    dladdr(reinterpret_cast<void*>(&cudart::driver_name), &where);
    return dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }();
  return dlsym(library, name);
}

}  // namespace kernelcast::driver
