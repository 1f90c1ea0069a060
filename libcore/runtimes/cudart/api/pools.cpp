// Pools of memory: all of a device's memory is one, and what is freed returns at once. A pool keeps what it is set to.
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>

#include "kernels/cuda/driver.hpp"
#include "runtimes/cudart/allocations.hpp"
#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/devices.hpp"

using namespace kernelcast::cudart;
using kernelcast::driver::access_read_and_write;
using kernelcast::driver::Location;
using kernelcast::driver::location_device;

namespace {

// cudaMemPoolAttr
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

// The beginning of cudaMemPoolProps.
struct PoolProperties {
  int allocations, handles;
  Location location;
};

struct Pool {
  int device = 0;
  int reuse[3] = {1, 1, 1};  // by the first three attributes
  std::uint64_t release_threshold_bytes = 0;
};

struct Pools {
  std::map<int, Pool> defaults;
  std::map<Pool const*, std::unique_ptr<Pool>> made;
  std::map<int, Pool*> set;  // in the place of the default

  Pool* default_of(int device) {
    auto& pool = defaults[device];
    pool.device = device;
    return &pool;
  }
  Pool* current_of(int device) {
    auto const found = set.find(device);
    return found == set.end() ? default_of(device) : found->second;
  }
  bool known(Pool const* pool) const {
    if (made.contains(pool)) return true;
    for (auto const& [device, default_pool] : defaults)
      if (&default_pool == pool) return true;
    return false;
  }
};
// Guarded by the runtime's lock. Never destroyed: the application may call at the very end.
Pools& pools() {
  static auto* const all = new Pools;
  return *all;
}

template <class Find>
Code get_pool(Pool** pool, int device, Find const& find) {
  return call([&](Devices const& devices) {
    if (!pool) return Code::invalid_value;
    if (!devices.known(device)) return Code::invalid_device;
    *pool = find(device);
    return Code::success;
  });
}

template <class Body>
Code of_pool(Pool const* pool, Body const& body) {
  return call([&](Devices const&, Allocations& allocations) {
    return pools().known(pool) ? body(allocations) : Code::invalid_value;
  });
}

}  // namespace

KERNELCAST_CUDA_EXPORT Code cudaDeviceGetDefaultMemPool(Pool** pool, int device) {
  return get_pool(pool, device, [](int of) { return pools().default_of(of); });
}
KERNELCAST_CUDA_EXPORT Code cudaDeviceGetMemPool(Pool** pool, int device) {
  return get_pool(pool, device, [](int of) { return pools().current_of(of); });
}
KERNELCAST_CUDA_EXPORT Code cudaDeviceSetMemPool(int device, Pool* pool) {
  return call([&](Devices const& devices) {
    if (!devices.known(device)) return Code::invalid_device;
    if (!pools().known(pool) || pool->device != device) return Code::invalid_value;
    pools().set[device] = pool;
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cudaMemPoolCreate(Pool** pool, PoolProperties const* properties) {
  if (!properties) return remembered(Code::invalid_value);
  auto const& location = properties->location;
  return get_pool(pool, location.kind == location_device ? location.device : current_device(), [](int device) {
    auto made = std::make_unique<Pool>(Pool{device});
    auto* const handle = made.get();
    pools().made.emplace(handle, std::move(made));
    return handle;
  });
}
// A device has its default pool again.
KERNELCAST_CUDA_EXPORT Code cudaMemPoolDestroy(Pool* pool) {
  return of_pool(pool, [&](Allocations&) {
    std::erase_if(pools().set, [&](auto const& entry) { return entry.second == pool; });
    return pools().made.erase(pool) ? Code::success : Code::invalid_value;
  });
}
KERNELCAST_CUDA_EXPORT Code cudaMemPoolSetAttribute(Pool* pool, PoolAttribute attribute, void const* value) {
  return of_pool(pool, [&](Allocations&) {
    if (!value || attribute < PoolAttribute::follow_events || attribute > PoolAttribute::used_high)
      return Code::invalid_value;
    if (attribute < PoolAttribute::release_threshold) {
      std::memcpy(&pool->reuse[static_cast<int>(attribute) - 1], value, sizeof pool->reuse[0]);
      return Code::success;
    }
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, value, sizeof bytes);
    if (attribute == PoolAttribute::release_threshold) return pool->release_threshold_bytes = bytes, Code::success;
    // The most that there was begins anew.
    bool const most = attribute == PoolAttribute::reserved_high || attribute == PoolAttribute::used_high;
    return most && bytes == 0 ? Code::success : Code::invalid_value;
  });
}
KERNELCAST_CUDA_EXPORT Code cudaMemPoolGetAttribute(Pool* pool, PoolAttribute attribute, void* value) {
  return of_pool(pool, [&](Allocations& allocations) {
    if (!value || attribute < PoolAttribute::follow_events || attribute > PoolAttribute::used_high)
      return Code::invalid_value;
    if (attribute < PoolAttribute::release_threshold) {
      std::memcpy(value, &pool->reuse[static_cast<int>(attribute) - 1], sizeof pool->reuse[0]);
      return Code::success;
    }
    std::uint64_t const bytes = attribute == PoolAttribute::release_threshold ? pool->release_threshold_bytes
                                                                              : allocations.used_bytes(pool->device);
    std::memcpy(value, &bytes, sizeof bytes);
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cudaMemPoolTrimTo(Pool* pool, std::size_t) {
  return of_pool(pool, [](Allocations&) { return Code::success; });
}
KERNELCAST_CUDA_EXPORT Code cudaMemPoolSetAccess(Pool* pool, void const*, std::size_t) {
  return of_pool(pool, [](Allocations&) { return Code::success; });
}
KERNELCAST_CUDA_EXPORT Code cudaMemPoolGetAccess(int* flags, Pool* pool, Location const*) {
  return of_pool(pool, [&](Allocations&) {
    if (!flags) return Code::invalid_value;
    *flags = access_read_and_write;
    return Code::success;
  });
}
// Of a place, where the kind of memory is said, too.
KERNELCAST_CUDA_EXPORT Code cudaMemGetDefaultMemPool(Pool** pool, Location const* location, int) {
  if (!location || location->kind != location_device)
    return unsupported("cudaMemGetDefaultMemPool for memory that is not a device's");
  return cudaDeviceGetDefaultMemPool(pool, location->device);
}
KERNELCAST_CUDA_EXPORT Code cudaMemGetMemPool(Pool** pool, Location const* location, int) {
  if (!location || location->kind != location_device)
    return unsupported("cudaMemGetMemPool for memory that is not a device's");
  return cudaDeviceGetMemPool(pool, location->device);
}
