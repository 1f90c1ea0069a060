// Calls that the driver and the runtime have alike: the same arguments, in the same order. A pointer of the device
// comes as a number here and as a void* there; in a call they are the same.
#include "runtimes/cudart/driver/call.hpp"
#include "runtimes/cudart/graphs.hpp"
#include "runtimes/cudart/streams.hpp"

using namespace kernelcast::cudart;
using namespace kernelcast::driver;
using Code = kernelcast::cudart::Code;
struct Pool;

#define FORWARD_WHEN(condition, name, runtime, parameters, arguments)                             \
  KERNELCAST_CUDA_EXPORT Code name parameters {                                                   \
    static auto* const runtime = reinterpret_cast<Code(*) parameters>(find_of_runtime(#runtime)); \
    if (!(condition)) return no_context();                                                        \
    return of_runtime_call([&] { return runtime arguments; });                                    \
  }
#define FORWARD(name, runtime, parameters, arguments) \
  FORWARD_WHEN(current_context(), name, runtime, parameters, arguments)
#define FORWARD_WITHOUT_CONTEXT(name, runtime, parameters, arguments) \
  FORWARD_WHEN(true, name, runtime, parameters, arguments)
// Those that programs with a default stream per thread call by another name.
#define FORWARD_PTSZ(name, runtime, parameters, arguments) \
  FORWARD(name, runtime, parameters, arguments)            \
  KERNELCAST_CUDA_ALIAS(name, name##_ptsz)
// A stream of the application's knows its context, as an event does: none needs to be current.
#define FORWARD_OF_STREAM(name, runtime, parameters, arguments)                                         \
  FORWARD_WHEN(!Streams::is_default(stream) || current_context(), name, runtime, parameters, arguments) \
  KERNELCAST_CUDA_ALIAS(name, name##_ptsz)
#define FORWARD_PTDS(name, runtime, parameters, arguments) \
  FORWARD(name, runtime, parameters, arguments)            \
  KERNELCAST_CUDA_ALIAS(name, name##_ptds)

// clang-format off
FORWARD_WITHOUT_CONTEXT(cuLogsRegisterCallback, cudaLogsRegisterCallback, (void const* callback, void* data, void** handle), (callback, data, handle))
FORWARD_WITHOUT_CONTEXT(cuLogsUnregisterCallback, cudaLogsUnregisterCallback, (void* handle), (handle))

FORWARD(cuCtxSynchronize, cudaDeviceSynchronize, (), ())
FORWARD(cuCtxGetLimit, cudaDeviceGetLimit, (std::size_t* value, Limit limit), (value, limit))
FORWARD(cuCtxSetLimit, cudaDeviceSetLimit, (Limit limit, std::size_t value), (limit, value))
FORWARD(cuCtxGetStreamPriorityRange, cudaDeviceGetStreamPriorityRange, (int* least, int* greatest), (least, greatest))

FORWARD(cuMemGetInfo_v2, cudaMemGetInfo, (std::size_t* free, std::size_t* total), (free, total))
FORWARD(cuMemAllocHost_v2, cudaMallocHost, (void** out, std::size_t bytes), (out, bytes))
FORWARD(cuMemHostAlloc, cudaHostAlloc, (void** out, std::size_t bytes, unsigned flags), (out, bytes, flags))
FORWARD(cuMemFreeHost, cudaFreeHost, (void* pointer), (pointer))
FORWARD(cuMemHostRegister_v2, cudaHostRegister, (void* pointer, std::size_t bytes, unsigned flags), (pointer, bytes, flags))
KERNELCAST_CUDA_ALIAS(cuMemHostRegister_v2, cuMemHostRegister)
FORWARD(cuMemHostUnregister, cudaHostUnregister, (void* pointer), (pointer))
FORWARD(cuMemHostGetDevicePointer_v2, cudaHostGetDevicePointer, (void** out, void* host, unsigned flags), (out, host, flags))
FORWARD(cuMemHostGetFlags, cudaHostGetFlags, (unsigned* flags, void* host), (flags, host))
FORWARD(cuMemFree_v2, cudaFree, (void* pointer), (pointer))
FORWARD_PTSZ(cuMemPrefetchAsync_v2, cudaMemPrefetchAsync_v2, (void const* pointer, std::size_t bytes, Location location, unsigned flags, Stream stream), (pointer, bytes, location, flags, stream))
FORWARD(cuMemAdvise, cudaMemAdvise, (void const* pointer, std::size_t bytes), (pointer, bytes))
KERNELCAST_CUDA_ALIAS(cuMemAdvise, cuMemAdvise_v2)
FORWARD_WITHOUT_CONTEXT(cuDeviceGetDefaultMemPool, cudaDeviceGetDefaultMemPool, (Pool** pool, Device device), (pool, device))
FORWARD_WITHOUT_CONTEXT(cuDeviceGetMemPool, cudaDeviceGetMemPool, (Pool** pool, Device device), (pool, device))
FORWARD_WITHOUT_CONTEXT(cuDeviceSetMemPool, cudaDeviceSetMemPool, (Device device, Pool* pool), (device, pool))
FORWARD(cuUserObjectCreate, cudaUserObjectCreate, (UserObject** out, void* value, void (*destroy)(void*), unsigned references, unsigned flags), (out, value, destroy, references, flags))
FORWARD(cuUserObjectRetain, cudaUserObjectRetain, (UserObject* object, unsigned count), (object, count))
FORWARD(cuUserObjectRelease, cudaUserObjectRelease, (UserObject* object, unsigned count), (object, count))
FORWARD(cuGraphRetainUserObject, cudaGraphRetainUserObject, (Graph* graph, UserObject* object, unsigned count, unsigned flags), (graph, object, count, flags))
FORWARD(cuGraphReleaseUserObject, cudaGraphReleaseUserObject, (Graph* graph, UserObject* object, unsigned count), (graph, object, count))
FORWARD_WITHOUT_CONTEXT(cuMemPoolCreate, cudaMemPoolCreate, (Pool** pool, void const* properties), (pool, properties))
FORWARD_WITHOUT_CONTEXT(cuMemPoolDestroy, cudaMemPoolDestroy, (Pool* pool), (pool))
FORWARD_WITHOUT_CONTEXT(cuMemPoolSetAttribute, cudaMemPoolSetAttribute, (Pool* pool, int attribute, void* value), (pool, attribute, value))
FORWARD_WITHOUT_CONTEXT(cuMemPoolGetAttribute, cudaMemPoolGetAttribute, (Pool* pool, int attribute, void* value), (pool, attribute, value))
FORWARD_WITHOUT_CONTEXT(cuMemPoolGetAccess, cudaMemPoolGetAccess, (int* flags, Pool* pool, Location const* location), (flags, pool, location))
FORWARD_WITHOUT_CONTEXT(cuMemGetDefaultMemPool, cudaMemGetDefaultMemPool, (Pool** pool, Location const* location, int kind), (pool, location, kind))
FORWARD_WITHOUT_CONTEXT(cuMemGetMemPool, cudaMemGetMemPool, (Pool** pool, Location const* location, int kind), (pool, location, kind))
FORWARD_WITHOUT_CONTEXT(cuMemPoolSetAccess, cudaMemPoolSetAccess, (Pool* pool, void const* map, std::size_t count), (pool, map, count))
FORWARD_WITHOUT_CONTEXT(cuMemPoolTrimTo, cudaMemPoolTrimTo, (Pool* pool, std::size_t bytes), (pool, bytes))
FORWARD_OF_STREAM(cuMemFreeAsync, cudaFreeAsync, (void* pointer, Stream stream), (pointer, stream))

FORWARD(cuStreamCreate, cudaStreamCreateWithFlags, (Stream* stream, unsigned flags), (stream, flags))
FORWARD(cuStreamCreateWithPriority, cudaStreamCreateWithPriority, (Stream* stream, unsigned flags, int priority), (stream, flags, priority))
FORWARD_WHEN(!Streams::is_default(stream) || current_context(), cuStreamDestroy_v2, cudaStreamDestroy, (Stream stream), (stream))
KERNELCAST_CUDA_ALIAS(cuStreamDestroy_v2, cuStreamDestroy)
FORWARD_OF_STREAM(cuStreamSynchronize, cudaStreamSynchronize, (Stream stream), (stream))
FORWARD_OF_STREAM(cuStreamQuery, cudaStreamQuery, (Stream stream), (stream))
FORWARD_OF_STREAM(cuStreamWaitEvent, cudaStreamWaitEvent, (Stream stream, Event event, unsigned flags), (stream, event, flags))
FORWARD_OF_STREAM(cuStreamGetFlags, cudaStreamGetFlags, (Stream stream, unsigned* flags), (stream, flags))
FORWARD_OF_STREAM(cuStreamGetPriority, cudaStreamGetPriority, (Stream stream, int* priority), (stream, priority))
FORWARD_OF_STREAM(cuStreamGetId, cudaStreamGetId, (Stream stream, unsigned long long* id), (stream, id))
FORWARD_OF_STREAM(cuStreamGetDevice, cudaStreamGetDevice, (Stream stream, int* device), (stream, device))
FORWARD_PTSZ(cuStreamAttachMemAsync, cudaStreamAttachMemAsync, (Stream stream, void* pointer, std::size_t bytes, unsigned flags), (stream, pointer, bytes, flags))
FORWARD_PTSZ(cuStreamAddCallback, cudaStreamAddCallback, (Stream stream, void (*function)(Stream, Code, void*), void* data, unsigned flags), (stream, function, data, flags))
FORWARD_PTSZ(cuLaunchHostFunc, cudaLaunchHostFunc, (Stream stream, void (*function)(void*), void* data), (stream, function, data))
FORWARD_PTSZ(cuStreamBeginCapture_v2, cudaStreamBeginCapture, (Stream stream, int mode), (stream, mode))
FORWARD_PTSZ(cuStreamEndCapture, cudaStreamEndCapture, (Stream stream, Graph** graph), (stream, graph))
FORWARD_PTSZ(cuStreamIsCapturing, cudaStreamIsCapturing, (Stream stream, int* status), (stream, status))
FORWARD_PTSZ(cuStreamGetCaptureInfo_v2, cudaStreamGetCaptureInfo_v2, (Stream stream, int* status, unsigned long long* id, Graph** graph, Node* const** last, std::size_t* count), (stream, status, id, graph, last, count))
FORWARD_PTSZ(cuStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo_v3, (Stream stream, int* status, unsigned long long* id, Graph** graph, Node* const** last, void const** edges, std::size_t* count), (stream, status, id, graph, last, edges, count))
FORWARD_PTSZ(cuStreamBeginCaptureToGraph, cudaStreamBeginCaptureToGraph, (Stream stream, Graph* graph, Node* const* before, void const* edges, std::size_t count, int mode), (stream, graph, before, edges, count, mode))
FORWARD_PTSZ(cuStreamSetAttribute, cudaStreamSetAttribute, (Stream stream, int attribute, void const* value), (stream, attribute, value))
FORWARD_PTSZ(cuStreamCopyAttributes, cudaStreamCopyAttributes, (Stream to, Stream from), (to, from))
FORWARD(cuThreadExchangeStreamCaptureMode, cudaThreadExchangeStreamCaptureMode, (int* mode), (mode))

FORWARD(cuEventCreate, cudaEventCreateWithFlags, (Event* event, unsigned flags), (event, flags))
FORWARD_WITHOUT_CONTEXT(cuEventDestroy_v2, cudaEventDestroy, (Event event), (event))
KERNELCAST_CUDA_ALIAS(cuEventDestroy_v2, cuEventDestroy)
FORWARD_OF_STREAM(cuEventRecord, cudaEventRecord, (Event event, Stream stream), (event, stream))
FORWARD_OF_STREAM(cuEventRecordWithFlags, cudaEventRecordWithFlags, (Event event, Stream stream, unsigned flags), (event, stream, flags))
FORWARD_WITHOUT_CONTEXT(cuEventQuery, cudaEventQuery, (Event event), (event))
FORWARD_WITHOUT_CONTEXT(cuEventSynchronize, cudaEventSynchronize, (Event event), (event))
FORWARD_WITHOUT_CONTEXT(cuEventElapsedTime, cudaEventElapsedTime, (float* milliseconds, Event begin, Event end), (milliseconds, begin, end))
KERNELCAST_CUDA_ALIAS(cuEventElapsedTime, cuEventElapsedTime_v2)

FORWARD(cuGraphCreate, cudaGraphCreate, (Graph** graph, unsigned flags), (graph, flags))
FORWARD(cuGraphDestroy, cudaGraphDestroy, (Graph* graph), (graph))
FORWARD(cuGraphClone, cudaGraphClone, (Graph** out, Graph* graph), (out, graph))
FORWARD(cuGraphGetNodes, cudaGraphGetNodes, (Graph* graph, Node** nodes, std::size_t* count), (graph, nodes, count))
FORWARD(cuGraphGetRootNodes, cudaGraphGetRootNodes, (Graph* graph, Node** nodes, std::size_t* count), (graph, nodes, count))
FORWARD(cuGraphAddEmptyNode, cudaGraphAddEmptyNode, (Node** out, Graph* graph, Node* const* before, std::size_t count), (out, graph, before, count))
FORWARD(cuGraphAddChildGraphNode, cudaGraphAddChildGraphNode, (Node** out, Graph* graph, Node* const* before, std::size_t count, Graph* child), (out, graph, before, count, child))
FORWARD(cuGraphAddHostNode, cudaGraphAddHostNode, (Node** out, Graph* graph, Node* const* before, std::size_t count, HostNodeParameters const* given), (out, graph, before, count, given))
FORWARD(cuGraphHostNodeGetParams, cudaGraphHostNodeGetParams, (Node* node, HostNodeParameters* out), (node, out))
FORWARD(cuGraphHostNodeSetParams, cudaGraphHostNodeSetParams, (Node* node, HostNodeParameters const* given), (node, given))
FORWARD(cuGraphExecHostNodeSetParams, cudaGraphExecHostNodeSetParams, (GraphExec* exec, Node* node, HostNodeParameters const* given), (exec, node, given))
FORWARD(cuGraphDestroyNode, cudaGraphDestroyNode, (Node* node), (node))
FORWARD(cuGraphNodeGetType, cudaGraphNodeGetType, (Node* node, NodeType* type), (node, type))
FORWARD(cuGraphInstantiateWithFlags, cudaGraphInstantiateWithFlags, (GraphExec** exec, Graph* graph, unsigned long long flags), (exec, graph, flags))
FORWARD_PTSZ(cuGraphInstantiateWithParams, cudaGraphInstantiateWithParams, (GraphExec** exec, Graph* graph, void* parameters), (exec, graph, parameters))
FORWARD(cuGraphExecGetFlags, cudaGraphExecGetFlags, (GraphExec* exec, unsigned long long* flags), (exec, flags))
FORWARD(cuGraphExecDestroy, cudaGraphExecDestroy, (GraphExec* exec), (exec))
FORWARD_PTSZ(cuGraphLaunch, cudaGraphLaunch, (GraphExec* exec, Stream stream), (exec, stream))
FORWARD_PTSZ(cuGraphUpload, cudaGraphUpload, (GraphExec* exec, Stream stream), (exec, stream))
FORWARD(cuGraphNodeSetEnabled, cudaGraphNodeSetEnabled, (GraphExec* exec, Node* node, unsigned enabled), (exec, node, enabled))
FORWARD(cuGraphNodeGetEnabled, cudaGraphNodeGetEnabled, (GraphExec* exec, Node* node, unsigned* enabled), (exec, node, enabled))
FORWARD(cuGraphChildGraphNodeGetGraph, cudaGraphChildGraphNodeGetGraph, (Node* node, Graph** graph), (node, graph))
FORWARD(cuGraphExecChildGraphNodeSetParams, cudaGraphExecChildGraphNodeSetParams, (GraphExec* exec, Node* node, Graph* child), (exec, node, child))
FORWARD(cuGraphAddEventRecordNode, cudaGraphAddEventRecordNode, (Node** out, Graph* graph, Node* const* before, std::size_t count, Event event), (out, graph, before, count, event))
FORWARD(cuGraphEventRecordNodeGetEvent, cudaGraphEventRecordNodeGetEvent, (Node* node, Event* event), (node, event))
FORWARD(cuGraphEventRecordNodeSetEvent, cudaGraphEventRecordNodeSetEvent, (Node* node, Event event), (node, event))
FORWARD(cuGraphExecEventRecordNodeSetEvent, cudaGraphExecEventRecordNodeSetEvent, (GraphExec* exec, Node* node, Event event), (exec, node, event))
FORWARD(cuGraphAddEventWaitNode, cudaGraphAddEventWaitNode, (Node** out, Graph* graph, Node* const* before, std::size_t count, Event event), (out, graph, before, count, event))
FORWARD(cuGraphEventWaitNodeGetEvent, cudaGraphEventWaitNodeGetEvent, (Node* node, Event* event), (node, event))
FORWARD(cuGraphEventWaitNodeSetEvent, cudaGraphEventWaitNodeSetEvent, (Node* node, Event event), (node, event))
FORWARD(cuGraphExecEventWaitNodeSetEvent, cudaGraphExecEventWaitNodeSetEvent, (GraphExec* exec, Node* node, Event event), (exec, node, event))
FORWARD(cuGraphAddMemAllocNode, cudaGraphAddMemAllocNode, (Node** out, Graph* graph, Node* const* before, std::size_t count, AllocationNodeParameters* given), (out, graph, before, count, given))
FORWARD(cuGraphMemAllocNodeGetParams, cudaGraphMemAllocNodeGetParams, (Node* node, AllocationNodeParameters* out), (node, out))
FORWARD(cuGraphAddMemFreeNode, cudaGraphAddMemFreeNode, (Node** out, Graph* graph, Node* const* before, std::size_t count, void* pointer), (out, graph, before, count, pointer))
FORWARD(cuGraphMemFreeNodeGetParams, cudaGraphMemFreeNodeGetParams, (Node* node, void** pointer), (node, pointer))
FORWARD(cuGraphNodeFindInClone, cudaGraphNodeFindInClone, (Node** out, Node* original, Graph* clone), (out, original, clone))
FORWARD_WITHOUT_CONTEXT(cuDeviceGetGraphMemAttribute, cudaDeviceGetGraphMemAttribute, (Device device, int attribute, void* value), (device, attribute, value))
FORWARD_WITHOUT_CONTEXT(cuDeviceSetGraphMemAttribute, cudaDeviceSetGraphMemAttribute, (Device device, int attribute, void const* value), (device, attribute, value))
FORWARD_WITHOUT_CONTEXT(cuDeviceGraphMemTrim, cudaDeviceGraphMemTrim, (Device device), (device))
FORWARD(cuGraphExecUpdate_v2, cudaGraphExecUpdate, (GraphExec* exec, Graph* graph, void* out), (exec, graph, out))

FORWARD(cuFuncSetCacheConfig, cudaFuncSetCacheConfig, (void const* function, int config), (function, config))
FORWARD(cuFuncSetSharedMemConfig, cudaFuncSetSharedMemConfig, (void const* function, int config), (function, config))
FORWARD(cuFuncGetName, cudaFuncGetName, (char const** name, void const* function), (name, function))
KERNELCAST_CUDA_ALIAS(cuFuncGetName, cuKernelGetName)
FORWARD(cuFuncSetAttribute, cudaFuncSetAttribute, (void const* function, FunctionAttribute attribute, int value), (function, attribute, value))
FORWARD(cuOccupancyMaxActiveBlocksPerMultiprocessor, cudaOccupancyMaxActiveBlocksPerMultiprocessor, (int* groups, void const* function, int block, std::size_t shared_bytes), (groups, function, block, shared_bytes))
FORWARD(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, (int* groups, void const* function, int block, std::size_t shared_bytes, unsigned flags), (groups, function, block, shared_bytes, flags))
FORWARD(cuOccupancyAvailableDynamicSMemPerBlock, cudaOccupancyAvailableDynamicSMemPerBlock, (std::size_t* bytes, void const* function, int groups, int block), (bytes, function, groups, block))

FORWARD(cuTexObjectDestroy, cudaDestroyTextureObject, (unsigned long long handle), (handle))
FORWARD(cuSurfObjectDestroy, cudaDestroySurfaceObject, (unsigned long long handle), (handle))
FORWARD(cuArrayDestroy, cudaFreeArray, (Array* array), (array))

FORWARD_WITHOUT_CONTEXT(cuDeviceCanAccessPeer, cudaDeviceCanAccessPeer, (int* can, Device device, Device peer), (can, device, peer))
FORWARD_WITHOUT_CONTEXT(cuDeviceGetP2PAttribute, cudaDeviceGetP2PAttribute, (int* value, int attribute, Device from, Device to), (value, attribute, from, to))
FORWARD_WITHOUT_CONTEXT(cuDeviceGetPCIBusId, cudaDeviceGetPCIBusId, (char* text, int length, Device device), (text, length, device))
FORWARD_WITHOUT_CONTEXT(cuDeviceGetByPCIBusId, cudaDeviceGetByPCIBusId, (Device* device, char const* text), (device, text))
// clang-format on

// As before the runtime of CUDA 13: the number of a device, or one below 0 for the host.
KERNELCAST_CUDA_EXPORT Code cuMemPrefetchAsync(void const* pointer, std::size_t bytes, Device device, Stream stream) {
  return cuMemPrefetchAsync_v2(pointer, bytes, location_of(device), 0, stream);
}
KERNELCAST_CUDA_ALIAS(cuMemPrefetchAsync, cuMemPrefetchAsync_ptsz)
