// The runtime of HIP on that of CUDA: names as names.sh finds them, and what differs.
#pragma once
#define HIP_VERSION_MAJOR 6
#define HIP_VERSION_MINOR 2
#define HIP_VERSION_PATCH 0
#define HIP_VERSION 60200000
#include <cuda_runtime_api.h>
#include <hip_names/runtime.h>

#define hipErrorOutOfMemory cudaErrorMemoryAllocation
#define hipErrorNotInitialized cudaErrorInitializationError
#define hipErrorInvalidHandle cudaErrorInvalidResourceHandle
#define hipErrorDeinitialized cudaErrorCudartUnloading
#define hipErrorInvalidImage cudaErrorInvalidKernelImage
#define hipErrorNoBinaryForGpu cudaErrorNoKernelImageForDevice
#define hipErrorECCNotCorrectable cudaErrorECCUncorrectable
#define hipErrorLaunchTimeOut cudaErrorLaunchTimeout
#define hipErrorNotFound cudaErrorSymbolNotFound
#define hipErrorInvalidContext cudaErrorDeviceUninitialized
#define hipErrorTbd cudaErrorUnknown

#define hipHostFree cudaFreeHost
#define hipHostMallocDefault cudaHostAllocDefault
#define hipHostMallocPortable cudaHostAllocPortable
#define hipHostMallocMapped cudaHostAllocMapped
#define hipHostMallocWriteCombined cudaHostAllocWriteCombined
#define hipHostMallocNumaUser 0
#define hipHostMallocCoherent 0
#define hipHostMallocNonCoherent 0
#define hipDeviceAttribute_t cudaDeviceAttr
#define hipDeviceAttributeMultiprocessorCount cudaDevAttrMultiProcessorCount
#define hipDeviceAttributeMemoryBusWidth cudaDevAttrGlobalMemoryBusWidth
#define hipDeviceAttributeMaxSharedMemoryPerMultiprocessor cudaDevAttrMaxSharedMemoryPerMultiprocessor
#define hipFuncCache_t cudaFuncCache
#define hipLimit_t cudaLimit
#define hipPointerAttribute_t cudaPointerAttributes
#define hipEventReleaseToDevice 0
#define hipEventReleaseToSystem 0
#define hipMemAdviseSetCoarseGrain cudaMemAdviseUnsetReadMostly
#define hipLaunchParams cudaLaunchParams
#define HIP_SYMBOL(symbol) symbol

#ifdef __cplusplus
#include <cstdlib>

// So that the emulator calls the program one of HIP, which AMD's GPUs run as it is.
static int const hip_told_kernelcast = setenv("KERNELCAST_HIP", "1", 0);
#if defined(KERNELCAST_HIP_COMMAND) && !defined(__CUDA_ARCH__)
// This source and its options, for AMD's compiler; kernels/frontend/frontend.hpp reads it.
__attribute__((section("kernelcast_hip"), used)) static char const hip_source[] = KERNELCAST_HIP_COMMAND __BASE_FILE__;
#endif

// Members that AMD's GPUs have, and those that CUDA's structure has lost.
struct hipDeviceProp_t : cudaDeviceProp {
  char gcnArchName[256];
  int gcnArch;
#if CUDART_VERSION >= 13000
  int clockRate, memoryClockRate, computeMode, kernelExecTimeoutEnabled, deviceOverlap;
#endif
  int isLargeBar;
  int kernelcastWarpSize;  // warpSize, which hip_warp.h makes this
};

inline cudaError_t hipGetDevicePropertiesOf(hipDeviceProp_t* properties, int device) {
  *properties = {};
  auto const status = cudaGetDeviceProperties(static_cast<cudaDeviceProp*>(properties), device);
  cudaDeviceGetAttribute(&properties->kernelcastWarpSize, cudaDevAttrWarpSize, device);
#if CUDART_VERSION >= 13000
  cudaDeviceGetAttribute(&properties->clockRate, cudaDevAttrClockRate, device);
  cudaDeviceGetAttribute(&properties->memoryClockRate, cudaDevAttrMemoryClockRate, device);
  cudaDeviceGetAttribute(&properties->computeMode, cudaDevAttrComputeMode, device);
  properties->deviceOverlap = properties->asyncEngineCount > 0;
#endif
  return status;
}
#undef hipGetDeviceProperties
#define hipGetDeviceProperties hipGetDevicePropertiesOf

template <class T>
cudaError_t hipHostMalloc(T** pointer, std::size_t bytes, unsigned flags = 0) {
  return cudaHostAlloc(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <class T>
cudaError_t hipExtMallocWithFlags(T** pointer, std::size_t bytes, unsigned) {
  return cudaMalloc(reinterpret_cast<void**>(pointer), bytes);
}

inline cudaError_t hipMemcpyWithStream(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind,
                                       cudaStream_t stream) {
  auto const status = cudaMemcpyAsync(to, from, bytes, kind, stream);
  return status == cudaSuccess ? cudaStreamSynchronize(stream) : status;
}

// Copies between the address spaces of the driver's interface.
using hipDeviceptr_t = void*;
inline cudaError_t hipMemcpyHtoD(void* to, void const* from, std::size_t bytes) {
  return cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);
}
inline cudaError_t hipMemcpyDtoH(void* to, void const* from, std::size_t bytes) {
  return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost);
}
inline cudaError_t hipMemcpyDtoD(void* to, void const* from, std::size_t bytes) {
  return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);
}
inline cudaError_t hipMemcpyHtoDAsync(void* to, void const* from, std::size_t bytes, cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream);
}
inline cudaError_t hipMemcpyDtoHAsync(void* to, void const* from, std::size_t bytes, cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream);
}
inline cudaError_t hipInit(unsigned) {
  return cudaFree(nullptr);
}

#if CUDART_VERSION >= 13000  // which takes a place where HIP takes a device
inline cudaMemLocation hipLocationOf(int device) {
  return {device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice,
          {device == cudaCpuDeviceId ? 0 : device}};
}
inline cudaError_t hipMemPrefetchTo(void const* from, std::size_t bytes, int device, cudaStream_t stream = nullptr) {
  return cudaMemPrefetchAsync(from, bytes, hipLocationOf(device), 0, stream);
}
inline cudaError_t hipMemAdviseOf(void const* from, std::size_t bytes, cudaMemoryAdvise advice, int device) {
  return cudaMemAdvise(from, bytes, advice, hipLocationOf(device));
}
#undef hipMemPrefetchAsync
#undef hipMemAdvise
#define hipMemPrefetchAsync hipMemPrefetchTo
#define hipMemAdvise hipMemAdviseOf
#endif
#if CUDART_VERSION >= 12000
inline cudaError_t hipGraphInstantiateOf(cudaGraphExec_t* made, cudaGraph_t graph, cudaGraphNode_t*, char*,
                                         std::size_t) {
  return cudaGraphInstantiate(made, graph, 0);
}
#undef hipGraphInstantiate
#define hipGraphInstantiate hipGraphInstantiateOf
#endif
#endif
