// Memory alone: reads and writes of global memory, coalesced and strided, and of shared memory.
//
// Coalesced: in every step the threads of the launch touch neighbouring words, then all move on together. Strided:
// every thread has chunk words of its own and walks through them, so that neighbours are chunk words apart. A step is
// 16 words. Reads write the sum of what they read, modulo 2^32. `words` is a power of two, and for strided access chunk
// times the threads.

constexpr unsigned unroll = 16;  // of every step
constexpr unsigned chunk = 1024;
constexpr unsigned shared_words = 2048;
constexpr unsigned threads = 256;

__device__ unsigned global_thread() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ unsigned global_threads() {
  return gridDim.x * blockDim.x;
}

extern "C" __global__ void read_global_coalesced(unsigned const* data, unsigned* sums, unsigned words,
                                                 unsigned repeats) {
  unsigned const items = global_threads();
  unsigned at = global_thread(), sum = 0;
  for (unsigned repeat = 0; repeat < repeats; ++repeat) {
#pragma unroll
    for (unsigned u = 0; u < unroll; ++u) sum += data[(at + u * items) & (words - 1)];
    at += unroll * items;
  }
  sums[global_thread()] = sum;
}

extern "C" __global__ void read_global_strided(unsigned const* data, unsigned* sums, unsigned repeats) {
  unsigned const* mine = data + chunk * global_thread();
  unsigned at = 0, sum = 0;
  for (unsigned repeat = 0; repeat < repeats; ++repeat) {
#pragma unroll
    for (unsigned u = 0; u < unroll; ++u) sum += mine[(at + u) & (chunk - 1)];
    at += unroll;
  }
  sums[global_thread()] = sum;
}

extern "C" __global__ void write_global_coalesced(unsigned* data, unsigned words, unsigned repeats) {
  unsigned const items = global_threads();
  unsigned at = global_thread();
  for (unsigned repeat = 0; repeat < repeats; ++repeat) {
#pragma unroll
    for (unsigned u = 0; u < unroll; ++u) data[(at + u * items) & (words - 1)] = global_thread() + repeat;
    at += unroll * items;
  }
}

extern "C" __global__ void write_global_strided(unsigned* data, unsigned repeats) {
  unsigned* mine = data + chunk * global_thread();
  unsigned at = 0;
  for (unsigned repeat = 0; repeat < repeats; ++repeat) {
#pragma unroll
    for (unsigned u = 0; u < unroll; ++u) mine[(at + u) & (chunk - 1)] = global_thread() + repeat;
    at += unroll;
  }
}

// Every block reads the first shared_words words, then only shared memory.
extern "C" __global__ void __launch_bounds__(threads)
    read_local(unsigned const* data, unsigned* sums, unsigned repeats) {
  __shared__ unsigned cells[shared_words];
  for (unsigned i = threadIdx.x; i < shared_words; i += threads) cells[i] = data[i];
  __syncthreads();
  unsigned at = threadIdx.x, sum = 0;
  for (unsigned repeat = 0; repeat < repeats; ++repeat) {
#pragma unroll
    for (unsigned u = 0; u < unroll; ++u) sum += cells[(at + u) & (shared_words - 1)];
    at += unroll;
  }
  sums[global_thread()] = sum;
}

// A thread writes every threads-th word, over and over; then the block writes all of them to its part of `data`.
extern "C" __global__ void __launch_bounds__(threads) write_local(unsigned* data, unsigned repeats) {
  __shared__ unsigned volatile cells[shared_words];
  unsigned at = threadIdx.x;
  for (unsigned repeat = 0; repeat < repeats; ++repeat) {
#pragma unroll
    for (unsigned u = 0; u < unroll; ++u) cells[(at + u * threads) & (shared_words - 1)] = global_thread() + repeat;
    at += unroll * threads;
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < shared_words; i += threads) data[shared_words * blockIdx.x + i] = cells[i];
}
