// Wishes that change no result: where managed memory should be, how caches and pools should behave.
#include "cudart/allocations.hpp"
#include "cudart/call.hpp"
#include "cudart/devices.hpp"

using namespace kernelcast::cudart;

namespace {

// Pools are handles only: memory of all of them is one.
struct Pool {
  int device;
};

Pool* pool_of(int device) {
  static Pool pools[64];
  auto& pool = pools[static_cast<unsigned>(device) % 64];
  pool.device = device;
  return &pool;
}

Code when_there(void const* pointer, std::size_t bytes) {
  return call([&](Allocations& allocations) {
    return allocations.holds(pointer, bytes) ? Code::success : Code::invalid_value;
  });
}

Code get_pool(Pool** pool, int device) {
  return call([&](Devices const& devices) {
    if (!devices.known(device)) return Code::invalid_device;
    *pool = pool_of(device);
    return Code::success;
  });
}

}  // namespace

// What follows the size differs between CUDA 12 and 13, and is ignored.
KERNELCAST_CUDA_EXPORT Code cudaMemPrefetchAsync(void const* pointer, std::size_t bytes) {
  return when_there(pointer, bytes);
}
KERNELCAST_CUDA_ALIAS(cudaMemPrefetchAsync, cudaMemPrefetchAsync_ptsz)
KERNELCAST_CUDA_ALIAS(cudaMemPrefetchAsync, cudaMemPrefetchAsync_v2)
KERNELCAST_CUDA_ALIAS(cudaMemPrefetchAsync, cudaMemPrefetchAsync_v2_ptsz)
KERNELCAST_CUDA_ALIAS(cudaMemPrefetchAsync, cudaMemAdvise)
KERNELCAST_CUDA_ALIAS(cudaMemPrefetchAsync, cudaMemAdvise_v2)

KERNELCAST_CUDA_EXPORT Code cudaDeviceGetDefaultMemPool(Pool** pool, int device) {
  return get_pool(pool, device);
}
KERNELCAST_CUDA_ALIAS(cudaDeviceGetDefaultMemPool, cudaDeviceGetMemPool)
KERNELCAST_CUDA_EXPORT Code cudaDeviceSetMemPool(int device, Pool*) {
  return call([&](Devices const& devices) { return devices.known(device) ? Code::success : Code::invalid_device; });
}
KERNELCAST_CUDA_EXPORT Code cudaMemPoolCreate(Pool** pool, void const*) {
  return get_pool(pool, current_device());
}
KERNELCAST_CUDA_EXPORT Code cudaMemPoolDestroy(Pool*) {
  return Code::success;
}
KERNELCAST_CUDA_EXPORT Code cudaMemPoolSetAttribute(Pool*, int, void*) {
  return Code::success;
}
KERNELCAST_CUDA_EXPORT Code cudaMemPoolTrimTo(Pool*, std::size_t) {
  return Code::success;
}
KERNELCAST_CUDA_EXPORT Code cudaMemPoolSetAccess(Pool*, void const*, std::size_t) {
  return Code::success;
}

KERNELCAST_CUDA_EXPORT Code cudaStreamSetAttribute(Stream, int, void const*) {
  return Code::success;
}
KERNELCAST_CUDA_ALIAS(cudaStreamSetAttribute, cudaStreamSetAttribute_ptsz)
KERNELCAST_CUDA_EXPORT Code cudaStreamCopyAttributes(Stream, Stream) {
  return Code::success;
}
KERNELCAST_CUDA_ALIAS(cudaStreamCopyAttributes, cudaStreamCopyAttributes_ptsz)

KERNELCAST_CUDA_EXPORT Code cudaDeviceSetCacheConfig(int) {
  return Code::success;
}
KERNELCAST_CUDA_ALIAS(cudaDeviceSetCacheConfig, cudaThreadSetCacheConfig)
KERNELCAST_CUDA_ALIAS(cudaDeviceSetCacheConfig, cudaDeviceSetSharedMemConfig)
KERNELCAST_CUDA_EXPORT Code cudaDeviceGetCacheConfig(int* config) {
  *config = 0;
  return Code::success;
}
KERNELCAST_CUDA_ALIAS(cudaDeviceGetCacheConfig, cudaThreadGetCacheConfig)
KERNELCAST_CUDA_EXPORT Code cudaDeviceGetSharedMemConfig(int* config) {
  *config = 1;  // banks of four bytes
  return Code::success;
}
KERNELCAST_CUDA_EXPORT Code cudaCtxResetPersistingL2Cache() {
  return Code::success;
}
KERNELCAST_CUDA_EXPORT Code cudaSetDoubleForDevice(double*) {
  return Code::success;
}
KERNELCAST_CUDA_EXPORT Code cudaSetDoubleForHost(double*) {
  return Code::success;
}
KERNELCAST_CUDA_EXPORT Code cudaProfilerStart() {
  return Code::success;
}
KERNELCAST_CUDA_EXPORT Code cudaProfilerStop() {
  return Code::success;
}
