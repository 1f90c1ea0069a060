// HIP's language on CUDA's: launches, and warps without a mask.
#pragma once
#include <cuda_runtime.h>
#include <hip/hip_runtime_api.h>
#include <hip/hip_vector_types.h>
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
// Of the lanes that are there, 32 at most. CUDA declares functions of these names, too.
template <class T>
__device__ T hipShuffle(T value, int lane, int width = 32) {
  return __shfl_sync(__activemask(), value, lane, width);
}
template <class T>
__device__ T hipShuffleUp(T value, unsigned distance, int width = 32) {
  return __shfl_up_sync(__activemask(), value, distance, width);
}
template <class T>
__device__ T hipShuffleDown(T value, unsigned distance, int width = 32) {
  return __shfl_down_sync(__activemask(), value, distance, width);
}
template <class T>
__device__ T hipShuffleXor(T value, int mask, int width = 32) {
  return __shfl_xor_sync(__activemask(), value, mask, width);
}
inline __device__ unsigned long long hipBallot(int predicate) {
  return __ballot_sync(__activemask(), predicate);
}
inline __device__ int hipAny(int predicate) {
  return __any_sync(__activemask(), predicate);
}
inline __device__ int hipAll(int predicate) {
  return __all_sync(__activemask(), predicate);
}
#define __shfl hipShuffle
#define __shfl_up hipShuffleUp
#define __shfl_down hipShuffleDown
#define __shfl_xor hipShuffleXor
#define __ballot hipBallot
#define __any hipAny
#define __all hipAll

inline __device__ unsigned __lane_id() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
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
