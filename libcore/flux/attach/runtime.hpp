// The parts of the CUDA runtime that the attached library uses and replaces, declared by ourselves: it is built without
// a toolkit. Names and layouts are those of cuda_runtime_api.h.
#pragma once

#include <cstddef>

namespace kernelcast::flux::runtime {

using Error = int;  // cudaError_t; 0 is success
using Stream = struct StreamTag*;
using Event = struct EventTag*;
using Kernel = struct KernelTag*;
struct Dim3 {
  unsigned x, y, z;
};
struct LaunchConfig {  // cudaLaunchConfig_t
  Dim3 grid, block;
  std::size_t shared_bytes;
  Stream stream;
  void* attributes;
  unsigned attribute_count;
};
struct KernelNodeParams {  // cudaKernelNodeParams
  void* function;
  Dim3 grid, block;
  unsigned shared_bytes;
  void** parameters;
  void** extra;
};
struct FatbinWrapper {  // what __cudaRegisterFatBinary is given
  int magic, version;
  void const* data;
  void* file;
};

constexpr int copy_to_host = 2;              // cudaMemcpyDeviceToHost
constexpr unsigned event_without_time = 2;   // cudaEventDisableTiming
constexpr unsigned stream_non_blocking = 1;  // cudaStreamNonBlocking
constexpr int capture_relaxed = 2;           // cudaStreamCaptureModeRelaxed
constexpr Error memory_allocation = 2;       // cudaErrorMemoryAllocation

// Functions of the runtime that is loaded: member, symbol, arguments.
#define KERNELCAST_RUNTIME_FUNCTIONS(X)                                              \
  X(get_device, "cudaGetDevice", (int*))                                             \
  X(malloc_device, "cudaMalloc", (void**, std::size_t))                              \
  X(malloc_host, "cudaMallocHost", (void**, std::size_t))                            \
  X(memset_async, "cudaMemsetAsync", (void*, int, std::size_t, Stream))              \
  X(memcpy_async, "cudaMemcpyAsync", (void*, void const*, std::size_t, int, Stream)) \
  X(stream_create, "cudaStreamCreateWithFlags", (Stream*, unsigned))                 \
  X(stream_synchronize, "cudaStreamSynchronize", (Stream))                           \
  X(is_capturing, "cudaStreamIsCapturing", (Stream, int*))                           \
  X(exchange_capture_mode, "cudaThreadExchangeStreamCaptureMode", (int*))            \
  X(event_create, "cudaEventCreateWithFlags", (Event*, unsigned))                    \
  X(event_record, "cudaEventRecord", (Event, Stream))                                \
  X(event_query, "cudaEventQuery", (Event))                                          \
  X(event_synchronize, "cudaEventSynchronize", (Event))                              \
  X(launch_host, "cudaLaunchHostFunc", (Stream, void (*)(void*), void*))

#define KERNELCAST_DECLARE(member, symbol, arguments) Error(*member) arguments = nullptr;
struct Runtime {
  KERNELCAST_RUNTIME_FUNCTIONS(KERNELCAST_DECLARE)
  char const* missing = nullptr;  // the first function that the runtime lacks
};
#undef KERNELCAST_DECLARE

Runtime const& loaded();

// A function of the runtime, null where it has none of the name: find_next.cpp or find_given.cpp.
void* find(char const* name);

}  // namespace kernelcast::flux::runtime
