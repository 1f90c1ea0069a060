// HIP's language on CUDA's: launches, warps without a mask, atomics.
#pragma once
#include <cuda_runtime.h>
#include <hip/hip_runtime_api.h>
#include <hip/hip_vector_types.h>
#include <hip/hip_warp.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...) \
  (kernel)<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__)
#define __HIP_DEVICE_COMPILE__ __CUDA_ARCH__
#define __noinline__ __attribute__((noinline))

#ifdef __CUDACC__
template <class T>
__device__ T unsafeAtomicAdd(T* place, T value) {
  return atomicAdd(place, value);
}
template <class T>
__device__ T safeAtomicAdd(T* place, T value) {
  return atomicAdd(place, value);
}
inline __device__ unsigned long long wall_clock64() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
#endif
