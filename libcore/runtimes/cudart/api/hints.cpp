// Wishes that change no result: where managed memory should be, how caches should behave.
#include "runtimes/cudart/allocations.hpp"
#include "runtimes/cudart/call.hpp"

using namespace kernelcast::cudart;

namespace {

Code when_there(void const* pointer, std::size_t bytes) {
  return call([&](Allocations& allocations) {
    return allocations.holds(pointer, bytes) ? Code::success : Code::invalid_value;
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
