// cuGetProcAddress: the functions of this library by name and version.
#include <dlfcn.h>

#include <string>

#include "runtimes/cudart/driver/call.hpp"

using namespace kernelcast;
using namespace kernelcast::driver;

namespace {

// Names that other versions of a function have, and since which CUDA.
struct Version {
  std::string_view name, symbol;
  int since;
};
constexpr Version versions[] = {
#define KERNELCAST_DRIVER_VERSION(since, name, suffix) {#name, #name #suffix, since},
#include "kernels/cuda/driver_entry_points.def"
};

// What cuda.h calls this function from that version on.
std::string symbol_of(std::string_view name, int version) {
  std::string out(name);
  int newest = 0;
  for (auto const& v : versions)
    if (v.name == name && v.since <= version && v.since > newest) newest = v.since, out = v.symbol;
  return out;
}

void* own_function(std::string const& symbol) {
  static void* const library = [] {
    Dl_info where{};
    dladdr(reinterpret_cast<void*>(&own_function), &where);
    return dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }();
  return library && symbol.starts_with("cu") ? dlsym(library, symbol.c_str()) : nullptr;
}

enum class QueryResult : int { found, no_such_symbol, version_too_old };

}  // namespace

// Streams run in order: that of a thread is the default stream, and the functions of both have one body.
KERNELCAST_CUDA_EXPORT Code cuGetProcAddress_v2(char const* name, void** out, int version, unsigned long long,
                                                QueryResult* result) {
  if (!name || !out) return Code::invalid_value;
  *out = own_function(symbol_of(name, version));
  if (result) *result = *out ? QueryResult::found : QueryResult::no_such_symbol;
  return *out ? Code::success : Code::symbol_not_found;
}
KERNELCAST_CUDA_EXPORT Code cuGetProcAddress(char const* name, void** out, int version, unsigned long long flags) {
  return cuGetProcAddress_v2(name, out, version, flags, nullptr);
}
