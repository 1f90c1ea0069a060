// The binary interface of the CUDA driver (libcuda.so.1): what it has of its own beside the runtime's, see abi.hpp.
//
// Streams, events, arrays, graphs and most numbers are the runtime's. tests/programs/miniemu/cuda/abi_test.cpp compares
// all with a toolkit's headers where there is one.
#pragma once

#include "kernels/cuda/abi.hpp"

namespace kernelcast::cudart {
// What stands behind CUmodule, CUlibrary, CUfunction, CUkernel: pointers that only the driver looks into.
// NOLINTBEGIN(bugprone-forward-declaration-namespace): others have classes of these names.
struct Program;
struct Kernel;
// NOLINTEND(bugprone-forward-declaration-namespace)
}  // namespace kernelcast::cudart

namespace kernelcast::driver {

using cudart::Array;
using cudart::Attribute;  // CUdevice_attribute
using cudart::Code;       // CUresult
using cudart::Event;
using cudart::Graph;
using cudart::GraphExec;
using cudart::Stream;

using Device = int;
using Pointer = unsigned long long;
using Context = struct ContextObject*;
using Module = cudart::Program*;
using Function = cudart::Kernel*;
using TextureObject = unsigned long long;

enum class MemoryKind : unsigned { host = 1, device, array, unified };

enum class ArrayFormat : int { u8 = 1, u16, u32, s8 = 8, s16, s32, f16 = 16, f32 = 32 };

// CUDA_RESOURCE_DESC
struct ResourceDescription {
  cudart::ResourceType kind = cudart::ResourceType::linear;
  alignas(8) union {
    int reserved[32];
    Array* array;
    void* mipmapped;
    struct {
      Pointer address;
      ArrayFormat format;
      unsigned channels;
      std::size_t bytes;
    } linear;
    struct {
      Pointer address;
      ArrayFormat format;
      unsigned channels;
      std::size_t width, height, pitch;  // texels, texels, bytes
    } pitch_2d;
  } resource = {};
  unsigned flags = 0;
};

// CUDA_TEXTURE_DESC
struct TextureDescription {
  cudart::TextureAddress address[3] = {};
  cudart::TextureFilter filter = {};
  unsigned flags = 0;
  unsigned max_anisotropy = 0;
  cudart::TextureFilter mipmap_filter = {};
  float mipmap_level_bias = 0, min_mipmap_level = 0, max_mipmap_level = 0;
  float border[4] = {};
  int reserved[12] = {};
};
inline constexpr unsigned texture_read_as_integer = 1, texture_normalized_coordinates = 2, texture_srgb = 16,
                          texture_disable_trilinear = 32, texture_seamless_cubemap = 64;

// CUDA_MEMCPY2D
struct Copy2D {
  std::size_t source_x = 0, source_y = 0;
  MemoryKind source_kind = MemoryKind::host;
  void const* source_host = nullptr;
  Pointer source_device = 0;
  Array* source_array = nullptr;
  std::size_t source_pitch = 0;
  std::size_t target_x = 0, target_y = 0;
  MemoryKind target_kind = MemoryKind::device;
  void* target_host = nullptr;
  Pointer target_device = 0;
  Array* target_array = nullptr;
  std::size_t target_pitch = 0;
  std::size_t width_bytes = 0, height = 0;
};

// CUDA_MEMCPY3D. CUDA_MEMCPY3D_PEER has the contexts where `reserved` is.
struct Copy3D {
  struct End {
    std::size_t x = 0, y = 0, z = 0, mipmap_level = 0;  // x: bytes
    MemoryKind kind = MemoryKind::host;
    void const* host = nullptr;
    Pointer device = 0;
    Array* array = nullptr;
  };
  struct PitchedEnd : End {
    void* reserved = nullptr;
    std::size_t pitch = 0, height = 0;
  };
  PitchedEnd source, target;
  std::size_t width_bytes = 0, height = 0, depth = 0;
};

// CUDA_ARRAY_DESCRIPTOR, CUDA_ARRAY3D_DESCRIPTOR
struct ArrayDescription {
  std::size_t width, height;
  ArrayFormat format;
  unsigned channels;
};
struct Array3DDescription {
  std::size_t width, height, depth;
  ArrayFormat format;
  unsigned channels, flags;
};

// CUlaunchConfig
struct LaunchConfiguration {
  cudart::Dim3 grid, block;
  unsigned shared_bytes;
  Stream stream;
  cudart::LaunchAttribute* attributes;
  unsigned attribute_count;
};

// CUmemLocation
struct Location {
  int kind = 0;
  int device = 0;
};
inline constexpr int location_device = 1, location_host = 2;
// As calls had it before CUDA 13: below 0 for the host.
inline Location location_of(int device) {
  return device < 0 ? Location{location_host, 0} : Location{location_device, device};
}
inline constexpr unsigned access_none = 0, access_read = 1, access_read_and_write = 3;  // CUmemAccess_flags

// CUmemAllocationProp
struct PhysicalProperties {
  int type = 0;
  unsigned handle_types = 0;  // of what it may be exported as
  Location location;
  void* reserved = nullptr;
  unsigned char flags[8] = {};
};
inline constexpr int physical_pinned = 1;         // CU_MEM_ALLOCATION_TYPE_PINNED
inline constexpr unsigned handle_posix_file = 1;  // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

// CUmemAccessDesc
struct Access {
  Location location;
  unsigned flags = access_none;
};

// CUDA_KERNEL_NODE_PARAMS
struct KernelNode {
  cudart::KernelNodeParameters parameters;
  Function kernel;  // where no function is named
  Context context;
};

}  // namespace kernelcast::driver
