// The binary interface of the CUDA runtime, versions 12 and 13: what applications pass to libcudart.so and get from it.
//
// These are facts of the interface, declared here so that no CUDA toolkit is needed;
// tests/programs/miniemu/cuda/abi_test.cpp compares them with a toolkit's headers where there is one.
#pragma once

#include <cstddef>
#include <cstdint>

#define KERNELCAST_CUDA_EXPORT extern "C" __attribute__((visibility("default")))
// The same function under the name that programs with a default stream per thread call: streams run in order anyhow.
#define KERNELCAST_CUDA_ALIAS(function, other) \
  extern "C" __attribute__((visibility("default"), alias(#function))) decltype(function) other;

namespace kernelcast::cudart {

enum class Code : int {
#define KERNELCAST_CUDA_ERROR(number, name, official, driver, text) name = number,
#include "kernels/cuda/error_codes.def"
#undef KERNELCAST_CUDA_ERROR
};

struct Dim3 {
  unsigned x, y, z;
};

// What __cudaRegisterFatBinary gets.
struct FatbinWrapper {
  int magic, version;
  void const* data;         // machine code alone where files were compiled apart
  void const* const* more;  // version 2: the fat binaries of those files, null behind the last
};
inline constexpr int fatbin_version_linked = 2;

enum class CopyKind : int { host_to_host, host_to_device, device_to_host, device_to_device, by_address };

struct Extent {
  std::size_t width, height, depth;  // width: texels where an array takes part, else bytes
};
struct Position {
  std::size_t x, y, z;
};
struct PitchedPointer {
  void* pointer;
  std::size_t pitch, width, height;
};

enum class ChannelKind : int {
  signed_integer,
  unsigned_integer,
  floating,
  none,
  unorm8x1 = 5,
  unorm8x2,
  unorm8x4,
  unorm16x1,
  unorm16x2,
  unorm16x4,
  snorm8x1,
  snorm8x2,
  snorm8x4,
  snorm16x1,
  snorm16x2,
  snorm16x4
};
struct ChannelFormat {
  int x, y, z, w;  // bits
  ChannelKind kind;
};

// Applications hold pointers to these: what they are is the runtime's own.
// NOLINTBEGIN(bugprone-forward-declaration-namespace): others have classes of these names.
struct Array;
struct Graph;
struct GraphExec;
struct Node;
struct StreamObject;
struct EventObject;
// NOLINTEND(bugprone-forward-declaration-namespace)
using Stream = StreamObject*;  // null: the default stream; 1 and 2 are its two kinds by name
using Event = EventObject*;

struct Copy3D {
  Array* source_array;
  Position source_position;
  PitchedPointer source;
  Array* target_array;
  Position target_position;
  PitchedPointer target;
  Extent extent;
  CopyKind kind;
};
struct Copy3DPeer {
  Array* source_array;
  Position source_position;
  PitchedPointer source;
  int source_device;
  Array* target_array;
  Position target_position;
  PitchedPointer target;
  int target_device;
  Extent extent;
};

// Ours, of copies and fills: `rows` rows of `bytes` each, `pitch` from one to the next.
struct Area {
  void const* begin = nullptr;
  std::size_t pitch = 0, bytes = 0, rows = 1;
};

enum class MemoryType : int { unregistered, host, device, managed };
struct PointerAttributes {
  MemoryType type;
  int device;
  void* device_pointer;
  void* host_pointer;  // CUDA 13 has more behind it
};

enum class ResourceType : int { array, mipmapped_array, linear, pitch_2d };
struct LinearResource {
  void* pointer;
  ChannelFormat format;
  std::size_t bytes;
};
struct Pitch2DResource {
  void* pointer;
  ChannelFormat format;
  std::size_t width, height, pitch;  // texels, texels, bytes
};
// CUDA 13 has more behind these two; it is left alone.
struct ResourceDescription {
  ResourceType type;
  union {
    Array* array;
    void* mipmapped;
    LinearResource linear;
    Pitch2DResource pitch_2d;
  };
};

enum class TextureAddress : int { wrap, clamp, mirror, border };
enum class TextureFilter : int { point, linear };
enum class TextureRead : int { element_type, normalized_float };
struct TextureDescription {
  TextureAddress address[3];
  TextureFilter filter;
  TextureRead read;
  int srgb;
  float border[4];
  int normalized_coordinates;
  unsigned max_anisotropy;
  TextureFilter mipmap_filter;
  float mipmap_level_bias, min_mipmap_level, max_mipmap_level;
  int disable_trilinear_optimization;
  int seamless_cubemap;
};
struct ResourceView {
  int format;
  std::size_t width, height, depth;
  unsigned first_mipmap_level, last_mipmap_level, first_layer, last_layer;
};

// Of an argument list in one piece, CU_LAUNCH_PARAM_BUFFER_POINTER (1) and its value in a list that ends with 0: where
// it begins; null where there is none.
inline std::byte* packed_arguments(void** extra) {
  for (; extra && *extra; extra += 2)
    if (reinterpret_cast<std::uintptr_t>(*extra) == 1) return static_cast<std::byte*>(extra[1]);
  return nullptr;
}

struct FunctionAttributes {
  std::size_t shared_bytes, constant_bytes, local_bytes;
  int max_threads_per_block, registers, ptx_version, binary_version, cache_mode_ca;
  int max_dynamic_shared_bytes, preferred_carveout;
  int cluster_must_be_set, cluster_width, cluster_height, cluster_depth, cluster_policy, nonportable_cluster;
  int reserved[16];
};
enum class FunctionAttribute : int {
  max_dynamic_shared_bytes = 8,
  preferred_carveout,
  cluster_must_be_set,
  cluster_width,
  cluster_height,
  cluster_depth,
  nonportable_cluster,
  cluster_policy
};

struct LaunchAttribute {
  int id;
  int padding;
  union {
    char bytes[64];
    int cooperative;
    Dim3 cluster;
  };
};
inline constexpr int launch_attribute_cluster = 4, launch_attribute_cooperative = 2;

struct LaunchConfiguration {
  Dim3 grid, block;
  std::size_t shared_bytes;
  Stream stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

// cudaGraphNodeType
enum class NodeType : int {
  kernel,
  copy,
  fill,
  host,
  graph,
  empty,
  event_wait,
  event_record,
  allocation = 10,
  release = 11
};

struct KernelNodeParameters {  // cudaKernelNodeParams
  void const* function;
  Dim3 grid, block;
  unsigned shared_bytes;
  void** arguments;
  void** extra;
};
struct HostNodeParameters {  // cudaHostNodeParams
  void (*function)(void*);
  void* data;
};
struct FillNodeParameters {  // cudaMemsetParams
  void* to;
  std::size_t pitch;
  unsigned value, element_bytes;
  std::size_t width, height;  // elements, rows
};
struct CopyNodeParameters {  // cudaMemcpyNodeParams
  int flags, reserved[3];
  Copy3D copy;
};
struct ChildNodeParameters {  // cudaChildGraphNodeParams
  Graph* graph;
  int ownership;
};
struct EventNodeParameters {  // cudaEventRecordNodeParams, cudaEventWaitNodeParams
  Event event;
};
struct AllocationNodeParameters {  // cudaMemAllocNodeParamsV2
  unsigned char pool[88];
  void const* access;
  std::size_t access_count;
  std::size_t bytes;
  void* pointer;  // out
};
struct ReleaseNodeParameters {  // cudaMemFreeNodeParams
  void* pointer;
};
struct NodeParameters {  // cudaGraphNodeParams
  NodeType type;
  int reserved[3];
  union {
    KernelNodeParameters kernel;
    FillNodeParameters fill;
    HostNodeParameters host;
    CopyNodeParameters copy;
    ChildNodeParameters child;
    EventNodeParameters event;
    AllocationNodeParameters allocation;
    ReleaseNodeParameters release;
    long long room[29];
  };
  long long reserved_too;
};

enum class Limit : int {
  stack_bytes,
  printf_bytes,
  heap_bytes,
  sync_depth,
  pending_launches,
  l2_granularity,
  l2_bytes
};

// cudaDeviceAttr
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
  virtual_memory = 102,
  posix_file_handles,
  max_blocks_per_multiprocessor = 106,
  reserved_shared_per_block = 111,
  memory_pools = 115,
  largest = 147
};

inline constexpr unsigned host_register_mapped = 2;
inline constexpr unsigned event_disable_timing = 2;
inline constexpr unsigned stream_non_blocking = 1;
inline constexpr int capture_mode_relaxed = 2;
inline constexpr unsigned array_layered = 1, array_cubemap = 4;

}  // namespace kernelcast::cudart
