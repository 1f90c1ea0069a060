// Wishes that change no result: where managed memory should be, how caches should behave.
#include <optional>

#include "kernels/cuda/driver.hpp"
#include "runtimes/cudart/allocations.hpp"
#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/devices.hpp"
#include "runtimes/cudart/streams.hpp"
#include "runtimes/cudart/timeline.hpp"

using namespace kernelcast::cudart;
using kernelcast::driver::Location;
using kernelcast::driver::location_device;

namespace {

Code when_there(void const* pointer, std::size_t bytes) {
  return call([&](Allocations& allocations) {
    return allocations.holds(pointer, bytes) ? Code::success : Code::invalid_value;
  });
}

}  // namespace

// Without _v2 it is in versions.cpp.
KERNELCAST_CUDA_EXPORT Code cudaMemPrefetchAsync_v2(void const* pointer, std::size_t bytes, Location location, unsigned,
                                                    Stream stream) {
  return call([&](Allocations& allocations, Devices const& devices, Streams& streams, Timeline& timeline) {
    bool const to_device = location.kind == location_device;
    if (!streams.known(stream)) return Code::invalid_resource_handle;
    if (to_device && !devices.known(location.device)) return Code::invalid_device;
    if (!allocations.holds(pointer, bytes)) return Code::invalid_value;
    timeline.prefetched(pointer, bytes, to_device ? std::optional(location.device) : std::nullopt, stream);
    return Code::success;
  });
}
KERNELCAST_CUDA_ALIAS(cudaMemPrefetchAsync_v2, cudaMemPrefetchAsync_v2_ptsz)
// What follows the size differs between CUDA 12 and 13, and is ignored.
KERNELCAST_CUDA_EXPORT Code cudaMemAdvise(void const* pointer, std::size_t bytes) {
  return when_there(pointer, bytes);
}
KERNELCAST_CUDA_ALIAS(cudaMemAdvise, cudaMemAdvise_v2)

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
