// Functions of the driver by their names: those of the driver beside this library.
#include <dlfcn.h>

#include <string>

#include "runtimes/cudart/errors.hpp"

using namespace kernelcast;
using namespace kernelcast::cudart;

namespace {

enum class QueryResult : int { found, no_such_symbol, version_too_old };
using Find = Code(char const*, void**, int, unsigned long long, QueryResult*);

Find* finder() {
  static Find* const found = [] {
    Dl_info where{};
    dladdr(reinterpret_cast<void*>(&finder), &where);
    std::string path = where.dli_fname;
    path = path.substr(0, path.rfind('/') + 1) + "libcuda.so.1";
    void* const driver = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    return driver ? reinterpret_cast<Find*>(dlsym(driver, "cuGetProcAddress_v2")) : nullptr;
  }();
  return found;
}

constexpr unsigned version_of_runtime = 13000;

}  // namespace

KERNELCAST_CUDA_EXPORT Code cudaGetDriverEntryPointByVersion(char const* symbol, void** out, unsigned version,
                                                             unsigned long long flags, QueryResult* result) {
  if (!symbol || !out) return Code::invalid_value;
  *out = nullptr;
  auto* const find = finder();
  if (!find) return unsupported("cudaGetDriverEntryPoint");
  QueryResult status{};
  Code const code = find(symbol, out, static_cast<int>(version), flags, &status);
  if (result) *result = status;
  return code == Code::success || result ? Code::success : code;
}
KERNELCAST_CUDA_ALIAS(cudaGetDriverEntryPointByVersion, cudaGetDriverEntryPointByVersion_ptsz)

KERNELCAST_CUDA_EXPORT Code cudaGetDriverEntryPoint(char const* symbol, void** out, unsigned long long flags,
                                                    QueryResult* result) {
  return cudaGetDriverEntryPointByVersion(symbol, out, version_of_runtime, flags, result);
}
KERNELCAST_CUDA_ALIAS(cudaGetDriverEntryPoint, cudaGetDriverEntryPoint_ptsz)
