// The parts of the CUDA runtime that the attached library uses and replaces, declared by ourselves: it is built without
// a toolkit. Names and layouts are those of cuda_runtime_api.h.
#pragma once

#include <cstddef>

namespace kernelcast::flux::runtime {

using Error = int;  // cudaError_t; 0 is success
using Stream = struct StreamTag*;
using Event = struct EventTag*;
using Kernel = struct KernelTag*;
using Graph = struct GraphTag*;
using GraphExec = struct GraphExecTag*;
using Node = struct NodeTag*;
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
struct NodeParams {  // cudaGraphNodeParams
  int type;          // 0: a kernel
  int reserved[3];
  union {
    KernelNodeParams kernel;
    long long room[29];
  };
  long long reserved_too;
};
struct HostNodeParams {  // cudaHostNodeParams
  void (*function)(void*);
  void* data;
};
struct MemsetParams {  // cudaMemsetParams
  void* at;
  std::size_t pitch;
  unsigned value, element_bytes;
  std::size_t width, height;
};
struct FunctionAttributes {  // cudaFuncAttributes
  std::size_t shared_bytes, const_bytes, local_bytes;
  int max_work_items, registers;
  int ptx_version, binary_version;  // 75
  int further[64];
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
constexpr int kernel_node = 0;               // cudaGraphNodeTypeKernel

// Functions of the runtime that is loaded: member, symbol, arguments.
#define KERNELCAST_RUNTIME_FUNCTIONS(X)                                               \
  X(get_device, "cudaGetDevice", (int*))                                              \
  X(set_device, "cudaSetDevice", (int))                                               \
  X(device_synchronize, "cudaDeviceSynchronize", ())                                  \
  X(function_attributes, "cudaFuncGetAttributes", (FunctionAttributes*, void const*)) \
  X(malloc_device, "cudaMalloc", (void**, std::size_t))                               \
  X(malloc_host, "cudaMallocHost", (void**, std::size_t))                             \
  X(memset_async, "cudaMemsetAsync", (void*, int, std::size_t, Stream))               \
  X(memcpy_async, "cudaMemcpyAsync", (void*, void const*, std::size_t, int, Stream))  \
  X(stream_create, "cudaStreamCreateWithFlags", (Stream*, unsigned))                  \
  X(stream_synchronize, "cudaStreamSynchronize", (Stream))                            \
  X(is_capturing, "cudaStreamIsCapturing", (Stream, int*))                            \
  X(exchange_capture_mode, "cudaThreadExchangeStreamCaptureMode", (int*))             \
  X(event_create, "cudaEventCreateWithFlags", (Event*, unsigned))                     \
  X(event_record, "cudaEventRecord", (Event, Stream))                                 \
  X(event_query, "cudaEventQuery", (Event))                                           \
  X(event_synchronize, "cudaEventSynchronize", (Event))                               \
  X(launch_host, "cudaLaunchHostFunc", (Stream, void (*)(void*), void*))

// Those for graphs, which a runtime may lack.
#define KERNELCAST_GRAPH_FUNCTIONS(X)                                                                               \
  X(version, "cudaRuntimeGetVersion", (int*))                                                                       \
  X(add_memcpy, "cudaGraphAddMemcpyNode1D",                                                                         \
    (Node*, Graph, Node const*, std::size_t, void*, void const*, std::size_t, int))                                 \
  X(add_memset, "cudaGraphAddMemsetNode", (Node*, Graph, Node const*, std::size_t, MemsetParams const*))            \
  X(add_host, "cudaGraphAddHostNode", (Node*, Graph, Node const*, std::size_t, HostNodeParams const*))              \
  X(set_memcpy, "cudaGraphMemcpyNodeSetParams1D", (Node, void*, void const*, std::size_t, int))                     \
  X(set_memset, "cudaGraphMemsetNodeSetParams", (Node, MemsetParams const*))                                        \
  X(set_host, "cudaGraphHostNodeSetParams", (Node, HostNodeParams const*))                                          \
  X(exec_set_memcpy, "cudaGraphExecMemcpyNodeSetParams1D", (GraphExec, Node, void*, void const*, std::size_t, int)) \
  X(exec_set_memset, "cudaGraphExecMemsetNodeSetParams", (GraphExec, Node, MemsetParams const*))                    \
  X(exec_set_host, "cudaGraphExecHostNodeSetParams", (GraphExec, Node, HostNodeParams const*))                      \
  X(destroy_node, "cudaGraphDestroyNode", (Node))

#define KERNELCAST_DECLARE(member, symbol, arguments) Error(*member) arguments = nullptr;
struct Runtime {
  KERNELCAST_RUNTIME_FUNCTIONS(KERNELCAST_DECLARE)
  char const* missing = nullptr;  // the first function that the runtime lacks
};
struct GraphRuntime {
  KERNELCAST_GRAPH_FUNCTIONS(KERNELCAST_DECLARE)
  char const* missing = nullptr;
};
#undef KERNELCAST_DECLARE

Runtime const& loaded();
GraphRuntime const& graphs();

// The last node that the capture of this stream has added; null where the runtime does not tell.
Node last_captured(Stream);

// While it lives this thread may call what would spoil another stream's capture, such as an allocation.
class AnyCaptureGoesOn {
 public:
  AnyCaptureGoesOn() { loaded().exchange_capture_mode(&mode_); }
  ~AnyCaptureGoesOn() { loaded().exchange_capture_mode(&mode_); }
  AnyCaptureGoesOn(AnyCaptureGoesOn const&) = delete;

 private:
  int mode_ = capture_relaxed;
};

// A function of the runtime, null where it has none of the name: find_next.cpp or find_given.cpp.
void* find(char const* name);

}  // namespace kernelcast::flux::runtime
