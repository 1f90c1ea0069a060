// HIP's exchanges among the lanes of a warp: of 32 lanes, and in the PTX for wavefronts of 64 of both warps of one,
// which pragmas of the emulator's say (kernels/ptx/module.hpp). Source: AMD's HIP programming guide, "Warp cross-lane
// functions".
#pragma once
#include <cuda_runtime.h>
#include <cstring>
#include <type_traits>

// What `warpSize` is. On the host, which compiles once, AMD's traditional 64.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 870
constexpr int kernelcastWarpSize = 64;
#else
constexpr int kernelcastWarpSize = 32;
#endif
#define warpSize kernelcastWarpSize  // of structures, too: hipDeviceProp_t has a member of this name

#ifdef __CUDACC__
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 870
#define __AMDGCN_WAVEFRONT_SIZE 64
#define __AMDGCN_WAVEFRONT_SIZE__ 64

inline __device__ unsigned __lane_id() {
  unsigned lane, warp;
  asm("mov.u32 %0, %%laneid;\n\tmov.u32 %1, %%warpid;" : "=r"(lane), "=r"(warp));
  return lane | (warp & 1) << 5;
}
inline __device__ unsigned hipWordOf(unsigned value, int lane) {
  unsigned out;
  asm volatile(".pragma \"wave64\";\n\tshfl.sync.idx.b32 %0, %1, %2, 31, -1;" : "=r"(out) : "r"(value), "r"(lane));
  return out;
}
inline __device__ unsigned long long hipBallot(int predicate) {
  unsigned low, high;
  asm volatile(
      "{.reg .pred p; setp.ne.s32 p, %2, 0;\n\t"
      ".pragma \"wave64::low\";\n\tvote.sync.ballot.b32 %0, p, -1;\n\t"
      ".pragma \"wave64::high\";\n\tvote.sync.ballot.b32 %1, p, -1;}"
      : "=r"(low), "=r"(high)
      : "r"(predicate));
  return (unsigned long long)high << 32 | low;
}
inline __device__ int hipAny(int predicate) {
  return hipBallot(predicate) != 0;
}
inline __device__ int hipAll(int predicate) {
  return hipBallot(!predicate) == 0;
}
// A value of any size, word by word.
template <class T>
__device__ T hipValueOf(T value, int lane) {
  unsigned words[(sizeof(T) + 3) / 4] = {};
  memcpy(words, &value, sizeof(T));
#pragma unroll
  for (unsigned& word : words) word = hipWordOf(word, lane);
  memcpy(&value, words, sizeof(T));
  return value;
}
template <class T>
__device__ T hipShuffle(T value, int lane, int width = kernelcastWarpSize) {
  int const self = __lane_id();
  return hipValueOf(value, (lane & (width - 1)) + (self & ~(width - 1)));
}
template <class T>
__device__ T hipShuffleUp(T value, unsigned distance, int width = kernelcastWarpSize) {
  int const self = __lane_id(), lane = self - (int)distance;
  return hipValueOf(value, lane < (self & ~(width - 1)) ? self : lane);
}
template <class T>
__device__ T hipShuffleDown(T value, unsigned distance, int width = kernelcastWarpSize) {
  int const self = __lane_id();
  return hipValueOf(value, (self & (width - 1)) + (int)distance >= width ? self : self + (int)distance);
}
template <class T>
__device__ T hipShuffleXor(T value, int mask, int width = kernelcastWarpSize) {
  int const self = __lane_id(), lane = self ^ mask;
  return hipValueOf(value, lane >= ((self + width) & ~(width - 1)) ? self : lane);
}
#else
#define __AMDGCN_WAVEFRONT_SIZE 32
#define __AMDGCN_WAVEFRONT_SIZE__ 32

// Of the lanes that are there.
inline __device__ unsigned __lane_id() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
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
#define KERNELCAST_HIP_SHUFFLE(NAME, OF, BY)          \
  template <class T>                                  \
  __device__ T NAME(T value, BY by, int width = 32) { \
    return OF(__activemask(), value, by, width);      \
  }
KERNELCAST_HIP_SHUFFLE(hipShuffle, __shfl_sync, int)
KERNELCAST_HIP_SHUFFLE(hipShuffleUp, __shfl_up_sync, unsigned)
KERNELCAST_HIP_SHUFFLE(hipShuffleDown, __shfl_down_sync, unsigned)
KERNELCAST_HIP_SHUFFLE(hipShuffleXor, __shfl_xor_sync, int)
#undef KERNELCAST_HIP_SHUFFLE
#endif

// CUDA declares functions of these names, too.
#define __shfl hipShuffle
#define __shfl_up hipShuffleUp
#define __shfl_down hipShuffleDown
#define __shfl_xor hipShuffleXor
#define __ballot hipBallot
#define __any hipAny
#define __all hipAll

// HIP's have a mask of 64 bits, CUDA's of 32. Of the lanes that are there.
#define KERNELCAST_HIP_SYNC(NAME, OF, BY)                                            \
  template <class M, class T, class = typename std::enable_if<sizeof(M) == 8>::type> \
  __device__ T NAME(M, T value, BY by, int width = kernelcastWarpSize) {             \
    return OF(value, by, width);                                                     \
  }
KERNELCAST_HIP_SYNC(__shfl_sync, hipShuffle, int)
KERNELCAST_HIP_SYNC(__shfl_up_sync, hipShuffleUp, unsigned)
KERNELCAST_HIP_SYNC(__shfl_down_sync, hipShuffleDown, unsigned)
KERNELCAST_HIP_SYNC(__shfl_xor_sync, hipShuffleXor, int)
#undef KERNELCAST_HIP_SYNC
#define KERNELCAST_HIP_SYNC(NAME, OF, RESULT)                               \
  template <class M, class = typename std::enable_if<sizeof(M) == 8>::type> \
  __device__ RESULT NAME(M, int predicate) {                                \
    return OF(predicate);                                                   \
  }
KERNELCAST_HIP_SYNC(__ballot_sync, hipBallot, unsigned long long)
KERNELCAST_HIP_SYNC(__any_sync, hipAny, int)
KERNELCAST_HIP_SYNC(__all_sync, hipAll, int)
#undef KERNELCAST_HIP_SYNC
#endif
