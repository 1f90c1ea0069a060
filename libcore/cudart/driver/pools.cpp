// Pools of memory: all of a device's memory is one, and what is freed returns at once.
#include <cstring>

#include "cudart/driver/call.hpp"

using namespace kernelcast;
using namespace kernelcast::driver;

struct Pool;

namespace {

// CUmemPool_attribute
enum class PoolAttribute : int {
  follow_events = 1,
  opportunistic,
  internal_dependencies,
  release_threshold,
  reserved,
  reserved_high,
  used,
  used_high,
};

}  // namespace

KERNELCAST_OF_RUNTIME(cudaDeviceGetDefaultMemPool, Pool**, int);
KERNELCAST_OF_RUNTIME(cudaMemGetInfo, std::size_t*, std::size_t*);

KERNELCAST_CUDA_EXPORT Code cuMemPoolGetAttribute(Pool* pool, PoolAttribute attribute, void* value) {
  if (!current_context()) return no_context();
  if (!pool || !value || attribute < PoolAttribute::follow_events || attribute > PoolAttribute::used_high)
    return Code::invalid_value;
  if (attribute <= PoolAttribute::internal_dependencies) {
    int const allowed = 1;
    std::memcpy(value, &allowed, sizeof allowed);
    return Code::success;
  }
  std::size_t free = 0, total = 0;
  auto const code = of_runtime_call([&] { return cudaMemGetInfo(&free, &total); });
  std::uint64_t const bytes = attribute == PoolAttribute::release_threshold ? 0 : total - free;
  if (code == Code::success) std::memcpy(value, &bytes, sizeof bytes);
  return code;
}
KERNELCAST_CUDA_EXPORT Code cuMemPoolGetAccess(int* flags, Pool* pool, Location*) {
  if (!flags || !pool) return Code::invalid_value;
  *flags = access_read_and_write;
  return Code::success;
}
KERNELCAST_CUDA_EXPORT Code cuMemGetDefaultMemPool(Pool** pool, Location* location, int) {
  if (!location || location->kind != location_device)
    return cudart::unsupported("a pool of memory that is not a device's");
  return of_runtime_call([&] { return cudaDeviceGetDefaultMemPool(pool, location->device); });
}
KERNELCAST_CUDA_ALIAS(cuMemGetDefaultMemPool, cuMemGetMemPool)
