// Tensor cores and asynchronous copies as CUDA C++ writes them; compiled by nvcc for sm_80 in tensor_test.cpp.
#include <cuda/barrier>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

// C = A B, 32 x 32 x 32, A by rows, B by columns: one warp per 16 x 16 tile.
__global__ void product(half const* a, half const* b, float* c) {
  using namespace nvcuda;
  int const row = threadIdx.x / 32 / 2 * 16, column = threadIdx.x / 32 % 2 * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> y;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < 32; k += 16) {
    wmma::load_matrix_sync(x, a + 32 * row + k, 32);
    wmma::load_matrix_sync(y, b + 32 * column + k, 32);
    wmma::mma_sync(sum, x, y, sum);
  }
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] *= 2;
  wmma::store_matrix_sync(c + 32 * row + column, sum, 32, wmma::mem_row_major);
}

// out[i] = in[i] reversed within pieces of 128, through two shared buffers filled ahead.
__global__ void reverse(int4 const* in, int4* out, int pieces) {
  __shared__ int4 buffer[2][128];
  int const t = threadIdx.x;
  __pipeline_memcpy_async(&buffer[0][t], &in[t], sizeof(int4));
  __pipeline_commit();
  for (int p = 0; p < pieces; ++p) {
    if (p + 1 < pieces) __pipeline_memcpy_async(&buffer[(p + 1) % 2][t], &in[128 * (p + 1) + t], sizeof(int4));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    out[128 * p + t] = buffer[p % 2][127 - t];
    __syncthreads();
  }
}

// The sum of what 4 rounds of 256 work-items add, told through a barrier object.
__global__ void rounds(int* out) {
  using barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ barrier meeting;
  __shared__ int total;
  if (threadIdx.x == 0) {
    init(&meeting, blockDim.x);
    total = 0;
  }
  __syncthreads();
  for (int round = 0; round < 4; ++round) {
    atomicAdd(&total, threadIdx.x);
    barrier::arrival_token token = meeting.arrive();
    meeting.wait(static_cast<barrier::arrival_token&&>(token));
    out[threadIdx.x + blockDim.x * round] = total;
    meeting.arrive_and_wait();
  }
}
