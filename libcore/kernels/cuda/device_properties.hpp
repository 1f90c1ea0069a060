// cudaDeviceProp, whose layout differs between CUDA 12 and 13: the one of KERNELCAST_CUDART.
#pragma once

#include <cstddef>

namespace kernelcast::cudart {

struct DeviceProperties {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luid_device_node_mask;
  std::size_t total_global_mem;
  std::size_t shared_mem_per_block;
  int regs_per_block;
  int warp_size;
  std::size_t mem_pitch;
  int max_threads_per_block;
  int max_threads_dim[3];
  int max_grid_size[3];
#if KERNELCAST_CUDART == 12
  int clock_rate;
#endif
  std::size_t total_const_mem;
  int major;
  int minor;
  std::size_t texture_alignment;
  std::size_t texture_pitch_alignment;
#if KERNELCAST_CUDART == 12
  int device_overlap;
#endif
  int multi_processor_count;
#if KERNELCAST_CUDART == 12
  int kernel_exec_timeout_enabled;
#endif
  int integrated;
  int can_map_host_memory;
#if KERNELCAST_CUDART == 12
  int compute_mode;
#endif
  int max_texture_1d;
  int max_texture_1d_mipmap;
#if KERNELCAST_CUDART == 12
  int max_texture_1d_linear;
#endif
  int max_texture_2d[2];
  int max_texture_2d_mipmap[2];
  int max_texture_2d_linear[3];
  int max_texture_2d_gather[2];
  int max_texture_3d[3];
  int max_texture_3d_alt[3];
  int max_texture_cubemap;
  int max_texture_1d_layered[2];
  int max_texture_2d_layered[3];
  int max_texture_cubemap_layered[2];
  int max_surface_1d;
  int max_surface_2d[2];
  int max_surface_3d[3];
  int max_surface_1d_layered[2];
  int max_surface_2d_layered[3];
  int max_surface_cubemap;
  int max_surface_cubemap_layered[2];
  std::size_t surface_alignment;
  int concurrent_kernels;
  int ecc_enabled;
  int pci_bus_id;
  int pci_device_id;
  int pci_domain_id;
  int tcc_driver;
  int async_engine_count;
  int unified_addressing;
#if KERNELCAST_CUDART == 12
  int memory_clock_rate;
#endif
  int memory_bus_width;
  int l2_cache_size;
  int persisting_l2_cache_max_size;
  int max_threads_per_multi_processor;
  int stream_priorities_supported;
  int global_l1_cache_supported;
  int local_l1_cache_supported;
  std::size_t shared_mem_per_multiprocessor;
  int regs_per_multiprocessor;
  int managed_memory;
  int is_multi_gpu_board;
  int multi_gpu_board_group_id;
  int host_native_atomic_supported;
#if KERNELCAST_CUDART == 12
  int single_to_double_precision_perf_ratio;
#endif
  int pageable_memory_access;
  int concurrent_managed_access;
  int compute_preemption_supported;
  int can_use_host_pointer_for_registered_mem;
  int cooperative_launch;
#if KERNELCAST_CUDART == 12
  int cooperative_multi_device_launch;
#endif
  std::size_t shared_mem_per_block_optin;
  int pageable_memory_access_uses_host_page_tables;
  int direct_managed_mem_access_from_host;
  int max_blocks_per_multi_processor;
  int access_policy_max_window_size;
  std::size_t reserved_shared_mem_per_block;
  int host_register_supported;
  int sparse_cuda_array_supported;
  int host_register_read_only_supported;
  int timeline_semaphore_interop_supported;
  int memory_pools_supported;
  int gpu_direct_rdma_supported;
  unsigned gpu_direct_rdma_flush_writes_options;
  int gpu_direct_rdma_writes_ordering;
  unsigned memory_pool_supported_handle_types;
  int deferred_mapping_cuda_array_supported;
  int ipc_event_supported;
  int cluster_launch;
  int unified_function_pointers;
#if KERNELCAST_CUDART == 13
  int device_numa_config;
  int device_numa_id;
  int mps_enabled;
  int host_numa_id;
  unsigned gpu_pci_device_id;
  unsigned gpu_pci_subsystem_id;
  int host_numa_multinode_ipc_supported;
#endif
#if KERNELCAST_CUDART == 12
  int reserved[63];
#endif
#if KERNELCAST_CUDART == 13
  int reserved[56];
#endif
};

}  // namespace kernelcast::cudart
