#include "measure/probe/opencl/api.hpp"

#include <dlfcn.h>

#include <cstdlib>

#include <fmt/format.h>

#include "measure/probe/access.hpp"

namespace kernelcast::probe::opencl {

namespace {

Api load() {
  Api api;
  // PoCL: a thread for each core that stays there, as in the CPU back end. Two on one core would halve every figure.
  setenv("POCL_AFFINITY", "1", 0);
  auto const [library, trouble] = open_library({"libOpenCL.so.1", "libOpenCL.so"});
  if (!library) {
    api.missing = trouble.empty() ? "there is no OpenCL library (libOpenCL.so.1)"
                                  : fmt::format("the OpenCL library does not load: {}", trouble);
    return api;
  }
#define KERNELCAST_RESOLVE(name)                                         \
  api.name = reinterpret_cast<decltype(&::name)>(dlsym(library, #name)); \
  if (!api.name) api.missing = "the OpenCL library has no " #name;
  KERNELCAST_OPENCL_FUNCTIONS(KERNELCAST_RESOLVE)
#undef KERNELCAST_RESOLVE
  return api;
}

}  // namespace

Api const& api() {
  static Api const loaded = load();
  return loaded;
}

}  // namespace kernelcast::probe::opencl
