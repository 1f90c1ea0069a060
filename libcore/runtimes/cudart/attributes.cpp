#include "runtimes/cudart/attributes.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtimes/cudart/devices.hpp"

namespace kernelcast::cudart {

namespace {

template <class T>
int whole(std::optional<T> const& figure, double unit = 1) {
  return static_cast<int>(std::lround(static_cast<double>(figure.value_or(0)) / unit));
}

// GDDR and HBM transfer twice per clock of the memory: bandwidth = 2 * clock * bus width.
int memory_clock_khz(device::Device const& d) {
  if (!d.peak_bandwidth_bytes_per_s || !d.memory_bus_bits) return 0;
  return static_cast<int>(
      std::lround(*d.peak_bandwidth_bytes_per_s / (2 * static_cast<double>(*d.memory_bus_bits) / 8) / 1000));
}

int double_ratio(device::Device const& d) {
  using record::InstructionClass;
  auto const &fp32 = d.throughput[InstructionClass::fp32], &fp64 = d.throughput[InstructionClass::fp64];
  return fp32 && fp64 && *fp64 > 0 ? static_cast<int>(std::lround(*fp32 / *fp64)) : 0;
}

}  // namespace

std::optional<int> value_of(Attribute attribute, device::Device const& d, int index) {
  using enum Attribute;
  int const number = static_cast<int>(attribute);
  if (number < 1 || number > static_cast<int>(largest)) return std::nullopt;
  bool const since_6 = capability(d) >= 60;
  switch (attribute) {
    case max_threads_per_block:
    case max_block_x:
    case max_block_y:
      return whole(d.rule.max_group_size);
    case max_block_z:
      return 64;
    case max_grid_x:
      return whole(d.rule.max_grid_x);
    case max_grid_y:
      return whole(d.rule.max_grid_y);
    case max_grid_z:
      return whole(d.rule.max_grid_z);
    case max_shared_per_block:
      return static_cast<int>(default_shared_bytes(d));
    case max_shared_per_block_optin:
      return static_cast<int>(max_shared_bytes(d));
    case max_shared_per_multiprocessor:
      return whole(d.rule.shared_per_cu_bytes);
    case reserved_shared_per_block:
      return whole(d.rule.shared_reserved_bytes);
    case constant_memory:
      return 64 * 1024;
    case warp_size:
      return whole(d.rule.wave_width);
    case max_pitch:
      return 0x7fffffff;
    case max_registers_per_block:
    case max_registers_per_multiprocessor:
      return whole(d.rule.registers_per_cu);
    case clock_rate:
      return whole(d.clock_hz, 1000);
    case memory_clock_rate:
      return memory_clock_khz(d);
    case memory_bus_width:
      return whole(d.memory_bus_bits);
    case l2_bytes:
      return whole(d.l2_bytes);
    case multiprocessors:
      return whole(d.compute_units);
    case max_threads_per_multiprocessor:
      return whole(d.rule.max_threads_per_cu);
    case max_blocks_per_multiprocessor:
      return whole(d.rule.max_groups_per_cu);
    case texture_alignment:
    case surface_alignment:
      return 512;
    case texture_pitch_alignment:
      return 32;
    case async_engines:
      return 2;
    case pci_bus:
      return index + 1;  // as cudaDeviceGetPCIBusId has it
    case overlap:
    case can_map_host_memory:
    case concurrent_kernels:
    case unified_addressing:
    case stream_priorities:
    case global_l1:
    case local_l1:
    case managed_memory:
    case host_pointer_for_registered:
    case host_register:
    case virtual_memory:
    case posix_file_handles:
    case memory_pools:
      return 1;
    case concurrent_managed_access:
    case compute_preemption:
    case cooperative_launch:
      return since_6 ? 1 : 0;
    case capability_major:
      return version_of(d).first;
    case capability_minor:
      return version_of(d).second;
    case single_to_double_ratio:
      return double_ratio(d);
    case max_texture_1d:
    case max_texture_2d_width:
      return since_6 ? 131072 : 65536;
    case max_texture_2d_height:
      return since_6 ? 65536 : 65535;
    case max_texture_3d_width:
    case max_texture_3d_height:
    case max_texture_3d_depth:
      return since_6 ? 16384 : 4096;
    case max_texture_1d_linear:
      return since_6 ? 1 << 28 : 1 << 27;
    case max_texture_2d_linear_width:
      return since_6 ? 131072 : 65000;
    case max_texture_2d_linear_height:
      return 65000;
    case max_texture_2d_linear_pitch:
      return since_6 ? 2097120 : 1048544;
    case max_texture_1d_layered:
    case max_texture_2d_layered_width:
    case max_texture_2d_layered_height:
    case max_texture_cubemap:
      return since_6 ? 32768 : 16384;
    case max_texture_1d_layers:
    case max_texture_2d_layers:
      return 2048;
    case max_surface_1d:
    case max_surface_2d_width:
      return since_6 ? 131072 : 65536;
    case max_surface_2d_height:
      return 65536;
    case max_surface_3d_width:
    case max_surface_3d_height:
    case max_surface_3d_depth:
      return since_6 ? 16384 : 4096;
    default:
      return 0;
  }
}

void write_uuid(device::Device const& d, int index, char* uuid) {
  constexpr std::size_t size = 16;
  std::memset(uuid, 0, size);
  std::copy_n(d.device.begin(), std::min(d.device.size(), size), uuid);
  uuid[size - 1] = static_cast<char>(index);
}

}  // namespace kernelcast::cudart
