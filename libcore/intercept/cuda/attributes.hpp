// Values of cudaDeviceGetAttribute for a device, by the numbers of cudaDeviceAttr; cudaDeviceProp has the same figures.
//
// Figures of one device come from the database; those of its compute capability from [cuda] "Technical Specifications
// per Compute Capability". What neither says is 0.
#pragma once

#include <optional>

#include "device/device.hpp"

namespace kernelcast::cudart {

enum class Attribute : int {
  max_threads_per_block = 1,
  max_block_x,
  max_block_y,
  max_block_z,
  max_grid_x,
  max_grid_y,
  max_grid_z,
  max_shared_per_block,
  constant_memory,
  warp_size,
  max_pitch,
  max_registers_per_block,
  clock_rate,
  texture_alignment,
  overlap,
  multiprocessors,
  kernel_timeout,
  integrated,
  can_map_host_memory,
  compute_mode,
  max_texture_1d,
  max_texture_2d_width,
  max_texture_2d_height,
  max_texture_3d_width,
  max_texture_3d_height,
  max_texture_3d_depth,
  max_texture_2d_layered_width,
  max_texture_2d_layered_height,
  max_texture_2d_layers,
  surface_alignment,
  concurrent_kernels,
  ecc,
  pci_bus,
  pci_device,
  tcc,
  memory_clock_rate,
  memory_bus_width,
  l2_bytes,
  max_threads_per_multiprocessor,
  async_engines,
  unified_addressing,
  max_texture_1d_layered,
  max_texture_1d_layers,
  pci_domain = 50,
  texture_pitch_alignment,
  max_texture_cubemap,
  max_surface_1d = 55,
  max_surface_2d_width,
  max_surface_2d_height,
  max_surface_3d_width,
  max_surface_3d_height,
  max_surface_3d_depth,
  max_texture_1d_linear = 69,
  max_texture_2d_linear_width,
  max_texture_2d_linear_height,
  max_texture_2d_linear_pitch,
  capability_major = 75,
  capability_minor,
  stream_priorities = 78,
  global_l1,
  local_l1,
  max_shared_per_multiprocessor,
  max_registers_per_multiprocessor,
  managed_memory,
  single_to_double_ratio = 87,
  pageable_memory_access,
  concurrent_managed_access,
  compute_preemption,
  host_pointer_for_registered,
  cooperative_launch = 95,
  max_shared_per_block_optin = 97,
  host_register = 99,
  max_blocks_per_multiprocessor = 106,
  reserved_shared_per_block = 111,
  memory_pools = 115,
  largest = 147
};

// Empty where there is no attribute of this number.
std::optional<int> value_of(Attribute, device::Device const&);

}  // namespace kernelcast::cudart
