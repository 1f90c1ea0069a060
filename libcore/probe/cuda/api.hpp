// The parts of the CUDA driver interface and of NVRTC that devprobe uses, by dlopen, with declarations of our own: the
// program is built without a toolkit and runs without a driver. Names and values are those of cuda.h and nvrtc.h; a
// test compares them where these are installed.
#pragma once

#include <cstddef>
#include <string>

namespace kernelcast::probe::cuda {

using Device = int;
using Result = int;  // CUresult and nvrtcResult; 0 is success
using Pointer = unsigned long long;
using Context = struct ContextTag*;
using Module = struct ModuleTag*;
using Function = struct FunctionTag*;
using Stream = struct StreamTag*;
using Event = struct EventTag*;
using Program = struct ProgramTag*;
using TextureObject = unsigned long long;

// CUresult
constexpr Result invalid_value = 1, out_of_memory = 2, no_device = 100, ecc_uncorrectable = 214, illegal_address = 700,
                 launch_out_of_resources = 701, launch_timeout = 702, launch_failed = 719, not_permitted = 800,
                 system_driver_mismatch = 803, system_not_ready = 802;

// CUdevice_attribute
enum Attribute : int {
  max_threads_per_block = 1,
  max_shared_memory_per_block = 8,
  warp_size = 10,
  clock_rate_khz = 13,
  multiprocessor_count = 16,
  compute_mode = 20,
  concurrent_kernels = 31,
  ecc_enabled = 32,
  memory_clock_rate_khz = 36,
  memory_bus_width = 37,
  l2_cache_size = 38,
  max_threads_per_multiprocessor = 39,
  compute_capability_major = 75,
  compute_capability_minor = 76,
  max_shared_memory_per_multiprocessor = 81,
  max_registers_per_multiprocessor = 82,
  max_shared_memory_per_block_optin = 97,
  max_blocks_per_multiprocessor = 106
};

constexpr int function_max_dynamic_shared = 8;  // CUfunction_attribute
constexpr int array_format_u32 = 3, resource_linear = 2;

// CUDA_RESOURCE_DESC for linear memory, CUDA_TEXTURE_DESC.
struct ResourceDescription {
  int kind = resource_linear;
  alignas(8) union {
    struct {
      Pointer address;
      int format;
      unsigned channels;
      std::size_t bytes;
    } linear;
    int reserved[32];
  } resource;
  unsigned flags = 0;
};
struct TextureDescription {
  int address_mode[3] = {};
  int filter_mode = 0;
  unsigned flags = 1;  // read as integer
  unsigned max_anisotropy = 0;
  int mipmap_filter_mode = 0;
  float mipmap_bias = 0, min_level = 0, max_level = 0;
  float border_color[4] = {};
  int reserved[12] = {};
};

// CUDA_MEMCPY2D
struct Copy2d {
  std::size_t source_x = 0, source_y = 0;
  int source_kind = 1;  // host
  void const* source_host = nullptr;
  Pointer source_device = 0;
  void* source_array = nullptr;
  std::size_t source_pitch = 0;
  std::size_t target_x = 0, target_y = 0;
  int target_kind = 2;  // device
  void* target_host = nullptr;
  Pointer target_device = 0;
  void* target_array = nullptr;
  std::size_t target_pitch = 0;
  std::size_t width_bytes = 0, height = 0;
};

// Driver functions: member, symbol, arguments.
#define KERNELCAST_CUDA_FUNCTIONS(X)                                                                          \
  X(init, "cuInit", (unsigned))                                                                               \
  X(driver_version, "cuDriverGetVersion", (int*))                                                             \
  X(device_count, "cuDeviceGetCount", (int*))                                                                 \
  X(device_get, "cuDeviceGet", (Device*, int))                                                                \
  X(device_name, "cuDeviceGetName", (char*, int, Device))                                                     \
  X(device_memory, "cuDeviceTotalMem_v2", (std::size_t*, Device))                                             \
  X(device_attribute, "cuDeviceGetAttribute", (int*, int, Device))                                            \
  X(error_name, "cuGetErrorName", (Result, char const**))                                                     \
  X(context_retain, "cuDevicePrimaryCtxRetain", (Context*, Device))                                           \
  X(context_release, "cuDevicePrimaryCtxRelease_v2", (Device))                                                \
  X(context_set, "cuCtxSetCurrent", (Context))                                                                \
  X(synchronize, "cuCtxSynchronize", ())                                                                      \
  X(module_load, "cuModuleLoadData", (Module*, void const*))                                                  \
  X(module_unload, "cuModuleUnload", (Module))                                                                \
  X(module_function, "cuModuleGetFunction", (Function*, Module, char const*))                                 \
  X(module_global, "cuModuleGetGlobal_v2", (Pointer*, std::size_t*, Module, char const*))                     \
  X(function_set, "cuFuncSetAttribute", (Function, int, int))                                                 \
  X(occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor", (int*, Function, int, std::size_t))             \
  X(launch, "cuLaunchKernel",                                                                                 \
    (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, void**, void**)) \
  X(allocate, "cuMemAlloc_v2", (Pointer*, std::size_t))                                                       \
  X(release, "cuMemFree_v2", (Pointer))                                                                       \
  X(allocate_host, "cuMemAllocHost_v2", (void**, std::size_t))                                                \
  X(release_host, "cuMemFreeHost", (void*))                                                                   \
  X(copy_to_device, "cuMemcpyHtoD_v2", (Pointer, void const*, std::size_t))                                   \
  X(copy_to_host, "cuMemcpyDtoH_v2", (void*, Pointer, std::size_t))                                           \
  X(copy_on_device, "cuMemcpyDtoD_v2", (Pointer, Pointer, std::size_t))                                       \
  X(copy_to_device_async, "cuMemcpyHtoDAsync_v2", (Pointer, void const*, std::size_t, Stream))                \
  X(copy_to_host_async, "cuMemcpyDtoHAsync_v2", (void*, Pointer, std::size_t, Stream))                        \
  X(copy_2d, "cuMemcpy2D_v2", (Copy2d const*))                                                                \
  X(copy_peer, "cuMemcpyPeer", (Pointer, Context, Pointer, Context, std::size_t))                             \
  X(stream_create, "cuStreamCreate", (Stream*, unsigned))                                                     \
  X(stream_destroy, "cuStreamDestroy_v2", (Stream))                                                           \
  X(stream_synchronize, "cuStreamSynchronize", (Stream))                                                      \
  X(event_create, "cuEventCreate", (Event*, unsigned))                                                        \
  X(event_destroy, "cuEventDestroy_v2", (Event))                                                              \
  X(event_record, "cuEventRecord", (Event, Stream))                                                           \
  X(event_synchronize, "cuEventSynchronize", (Event))                                                         \
  X(event_elapsed, "cuEventElapsedTime", (float*, Event, Event))                                              \
  X(texture_create, "cuTexObjectCreate",                                                                      \
    (TextureObject*, ResourceDescription const*, TextureDescription const*, void const*))                     \
  X(texture_destroy, "cuTexObjectDestroy", (TextureObject))

#define KERNELCAST_NVRTC_FUNCTIONS(X)                                                                                \
  X(create, "nvrtcCreateProgram", (Program*, char const*, char const*, int, char const* const*, char const* const*)) \
  X(destroy, "nvrtcDestroyProgram", (Program*))                                                                      \
  X(compile, "nvrtcCompileProgram", (Program, int, char const* const*))                                              \
  X(ptx_size, "nvrtcGetPTXSize", (Program, std::size_t*))                                                            \
  X(ptx, "nvrtcGetPTX", (Program, char*))                                                                            \
  X(log_size, "nvrtcGetProgramLogSize", (Program, std::size_t*))                                                     \
  X(log, "nvrtcGetProgramLog", (Program, char*))                                                                     \
  X(version, "nvrtcVersion", (int*, int*))

#define KERNELCAST_DECLARE(member, symbol, arguments) Result(*member) arguments = nullptr;
struct Driver {
  KERNELCAST_CUDA_FUNCTIONS(KERNELCAST_DECLARE)
  std::string missing;  // why it cannot be used; empty when it can
};
struct Compiler {
  KERNELCAST_NVRTC_FUNCTIONS(KERNELCAST_DECLARE)
  std::string missing;
};
#undef KERNELCAST_DECLARE

Driver const& driver();      // loaded and initialised at the first call
Compiler const& compiler();  // likewise

// PTX of a source text by NVRTC for `architecture` ("compute_75"). Throws Error(unavailable) with the first error of
// the log.
std::string compile(std::string const& source, std::string const& architecture);

}  // namespace kernelcast::probe::cuda
