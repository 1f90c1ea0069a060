// What differs between libcudart.so.12 and libcudart.so.13: compiled once for each, with KERNELCAST_CUDART.
#include <algorithm>
#include <cstring>

#include "kernels/cuda/device_properties.hpp"
#include "kernels/cuda/driver.hpp"
#include "runtimes/cudart/attributes.hpp"
#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/devices.hpp"

using namespace kernelcast;
using namespace kernelcast::cudart;

namespace {

DeviceProperties properties_of(device::Device const& d, int index, std::uint64_t memory) {
  using enum Attribute;
  auto const a = [&d](Attribute attribute) { return value_of(attribute, d).value_or(0); };
  auto const bytes = [&a](Attribute attribute) { return static_cast<std::size_t>(a(attribute)); };
  DeviceProperties p;
  std::memset(&p, 0, sizeof p);
  auto const name = d.vendor + ' ' + d.name;
  std::memcpy(p.name, name.data(), std::min(name.size(), sizeof p.name - 1));
  write_uuid(d, index, p.uuid);
  p.total_global_mem = memory;
  p.shared_mem_per_block = bytes(max_shared_per_block);
  p.shared_mem_per_block_optin = bytes(max_shared_per_block_optin);
  p.shared_mem_per_multiprocessor = bytes(max_shared_per_multiprocessor);
  p.reserved_shared_mem_per_block = bytes(reserved_shared_per_block);
  p.regs_per_block = a(max_registers_per_block);
  p.regs_per_multiprocessor = a(max_registers_per_multiprocessor);
  p.warp_size = a(warp_size);
  p.mem_pitch = bytes(max_pitch);
  p.max_threads_per_block = a(max_threads_per_block);
  for (int i = 0; i < 3; ++i) {
    p.max_threads_dim[i] = a(Attribute{static_cast<int>(max_block_x) + i});
    p.max_grid_size[i] = a(Attribute{static_cast<int>(max_grid_x) + i});
    p.max_texture_3d[i] = a(max_texture_3d_width);
    p.max_surface_3d[i] = a(max_surface_3d_width);
    p.max_texture_2d_linear[i] = a(Attribute{static_cast<int>(max_texture_2d_linear_width) + i});
    p.max_texture_2d_layered[i] = a(Attribute{static_cast<int>(max_texture_2d_layered_width) + i});
  }
  for (int i = 0; i < 2; ++i) {
    p.max_texture_2d[i] = a(Attribute{static_cast<int>(max_texture_2d_width) + i});
    p.max_texture_1d_layered[i] = a(Attribute{static_cast<int>(max_texture_1d_layered) + i});
    p.max_surface_2d[i] = a(Attribute{static_cast<int>(max_surface_2d_width) + i});
  }
  p.max_texture_1d = a(max_texture_1d);
  p.max_texture_cubemap = a(max_texture_cubemap);
  p.max_surface_1d = a(max_surface_1d);
  p.total_const_mem = bytes(constant_memory);
  p.major = a(capability_major);
  p.minor = a(capability_minor);
  p.texture_alignment = bytes(texture_alignment);
  p.texture_pitch_alignment = bytes(texture_pitch_alignment);
  p.surface_alignment = bytes(surface_alignment);
  p.multi_processor_count = a(multiprocessors);
  p.can_map_host_memory = a(can_map_host_memory);
  p.concurrent_kernels = a(concurrent_kernels);
  p.async_engine_count = a(async_engines);
  p.unified_addressing = a(unified_addressing);
  p.memory_bus_width = a(memory_bus_width);
  p.l2_cache_size = a(l2_bytes);
  p.max_threads_per_multi_processor = a(max_threads_per_multiprocessor);
  p.max_blocks_per_multi_processor = a(max_blocks_per_multiprocessor);
  p.stream_priorities_supported = a(stream_priorities);
  p.global_l1_cache_supported = a(global_l1);
  p.local_l1_cache_supported = a(local_l1);
  p.managed_memory = a(managed_memory);
  p.concurrent_managed_access = a(concurrent_managed_access);
  p.compute_preemption_supported = a(compute_preemption);
  p.can_use_host_pointer_for_registered_mem = a(host_pointer_for_registered);
  p.cooperative_launch = a(cooperative_launch);
  p.host_register_supported = a(host_register);
  p.memory_pools_supported = a(memory_pools);
  p.pci_bus_id = index + 1;
#if KERNELCAST_CUDART == 12
  p.clock_rate = a(clock_rate);
  p.memory_clock_rate = a(memory_clock_rate);
  p.device_overlap = a(overlap);
  p.max_texture_1d_linear = a(max_texture_1d_linear);
  p.single_to_double_precision_perf_ratio = a(single_to_double_ratio);
#endif
  return p;
}

Code get_properties(DeviceProperties* out, int device) {
  return call([&](Devices const& devices) {
    if (!out) return Code::invalid_value;
    if (!devices.known(device)) return Code::invalid_device;
    auto const& d = devices[device];
    *out = properties_of(d, device, devices.memory_bytes(device));
    return Code::success;
  });
}

constexpr int version = KERNELCAST_CUDART == 12 ? 12090 : 13000;

}  // namespace

#if KERNELCAST_CUDART == 12
KERNELCAST_CUDA_EXPORT Code cudaGetDeviceProperties_v2(DeviceProperties* out, int device) {
  return get_properties(out, device);
}
// The layout of CUDA 11, which nothing that was compiled for 12 asks for.
KERNELCAST_CUDA_EXPORT Code cudaGetDeviceProperties(void*, int) {
  return unsupported("cudaGetDeviceProperties of CUDA 11");
}
#else
KERNELCAST_CUDA_EXPORT Code cudaGetDeviceProperties(DeviceProperties* out, int device) {
  return get_properties(out, device);
}
#endif

KERNELCAST_CUDA_EXPORT Code cudaMemPrefetchAsync_v2(void const*, std::size_t, driver::Location, unsigned, Stream);
#if KERNELCAST_CUDART == 12
KERNELCAST_CUDA_EXPORT Code cudaMemPrefetchAsync(void const* pointer, std::size_t bytes, int device, Stream stream) {
  return cudaMemPrefetchAsync_v2(pointer, bytes, driver::location_of(device), 0, stream);
}
#else
KERNELCAST_CUDA_EXPORT Code cudaMemPrefetchAsync(void const* pointer, std::size_t bytes, driver::Location location,
                                                 unsigned flags, Stream stream) {
  return cudaMemPrefetchAsync_v2(pointer, bytes, location, flags, stream);
}
#endif
KERNELCAST_CUDA_ALIAS(cudaMemPrefetchAsync, cudaMemPrefetchAsync_ptsz)

// The first device that has the requested properties is as good as any.
KERNELCAST_CUDA_EXPORT Code cudaChooseDevice(int* device, DeviceProperties const* wanted) {
  return call([&](Devices const& devices) {
    if (!device || !wanted) return Code::invalid_value;
    *device = 0;
    for (int d = devices.count() - 1; d >= 0; --d) {
      auto const sm = static_cast<int>(capability(devices[d]));
      if (sm >= 10 * wanted->major + wanted->minor) *device = d;
    }
    return Code::success;
  });
}

KERNELCAST_CUDA_EXPORT Code cudaRuntimeGetVersion(int* out) {
  if (!out) return remembered(Code::invalid_value);
  *out = version;
  return Code::success;
}
KERNELCAST_CUDA_EXPORT Code cudaDriverGetVersion(int* out) {
  if (!out) return remembered(Code::invalid_value);
  *out = driver_version;
  return Code::success;
}
