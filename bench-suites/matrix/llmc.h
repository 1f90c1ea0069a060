// What the kernels of llm.c need beside what miniemu declares of CUDA C++: tiles of cooperative_groups, bf16 and hints
// of caches, in place of the toolkit's headers, which do not compile for AMD's devices.
#pragma once
#undef assert
#define assert(condition) ((void)0)
#define FLT_MAX __FLT_MAX__
#define INFINITY __builtin_inff()
#define M_PI 3.14159265358979323846

struct alignas(2) __nv_bfloat16 {
  unsigned short bits;
  __nv_bfloat16() = default;
  __device__ __nv_bfloat16(float x) {
    unsigned const all = __builtin_bit_cast(unsigned, x);
    bits = (unsigned short)((all + 0x7fff + ((all >> 16) & 1)) >> 16);
  }
  __device__ operator float() const { return __builtin_bit_cast(float, (unsigned)bits << 16); }
};
#ifdef ENABLE_BF16
typedef __nv_bfloat16 floatX, floatN;
#else
typedef float floatX, floatN;
#endif

template <class T>
__device__ T __ldcs(T const* from) {
  return *from;
}
template <class T>
__device__ T __ldcg(T const* from) {
  return *from;
}
template <class T>
__device__ void __stcs(T* to, T value) {
  *to = value;
}
template <class T>
__device__ void __stcg(T* to, T value) {
  *to = value;
}

namespace cooperative_groups {

struct thread_block {
  __device__ static unsigned thread_rank() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  __device__ static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  __device__ static void sync() { __syncthreads(); }
};
__device__ inline thread_block this_thread_block() {
  return {};
}

template <unsigned lanes>
struct thread_block_tile {
  __device__ static unsigned thread_rank() { return thread_block::thread_rank() % lanes; }
  __device__ static unsigned meta_group_rank() { return thread_block::thread_rank() / lanes; }
  __device__ static unsigned meta_group_size() { return (thread_block::size() + lanes - 1) / lanes; }
  __device__ static unsigned size() { return lanes; }
  __device__ static void sync() { __syncwarp(); }
  template <class T>
  __device__ static T shfl_xor(T x, unsigned by) {
    unsigned words[sizeof(T) / 4];
    __builtin_memcpy(words, &x, sizeof x);
    for (unsigned& word : words) word = __shfl_xor_sync(~0u, word, by, lanes);
    __builtin_memcpy(&x, words, sizeof x);
    return x;
  }
};
template <unsigned lanes>
__device__ thread_block_tile<lanes> tiled_partition(thread_block const&) {
  return {};
}

template <class T>
struct plus {
  __device__ T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct greater {
  __device__ T operator()(T a, T b) const { return a > b ? a : b; }
};
template <unsigned lanes, class T, class Operation>
__device__ T reduce(thread_block_tile<lanes> tile, T x, Operation operation) {
  for (unsigned by = lanes / 2; by > 0; by /= 2) x = operation(x, tile.shfl_xor(x, by));
  return x;
}

}  // namespace cooperative_groups
