// Sums by shuffles, by dynamic shared memory of several types and more than 48 KB of it, and the last group that ends.
#include "app.hpp"

__device__ unsigned ended;

__device__ float warp_sum(float v) {
  for (int distance = 16; distance > 0; distance /= 2) v += __shfl_down_sync(0xffffffffu, v, distance);
  return v;
}

__global__ void sum(float const* x, float* partial, float* result, int n) {
  extern __shared__ float of_warp[];
  float mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += x[i];
  mine = warp_sum(mine);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
  __syncthreads();
  __shared__ bool last;
  if (threadIdx.x < 32) {
    mine = warp_sum(threadIdx.x < blockDim.x / 32 ? of_warp[threadIdx.x] : 0);
    if (threadIdx.x == 0) {
      partial[blockIdx.x] = mine;
      __threadfence();
      last = atomicInc(&ended, gridDim.x - 1) == gridDim.x - 1;
    }
  }
  __syncthreads();
  if (!last || threadIdx.x > 0) return;
  float all = 0;
  for (unsigned g = 0; g < gridDim.x; ++g) all += static_cast<float volatile*>(partial)[g];
  *result = all;
}

// Reverses within a group, through memory that holds ints and doubles.
__global__ void reverse(int* a, double* b) {
  extern __shared__ double both[];
  auto* const ints = reinterpret_cast<int*>(both + blockDim.x * 6);
  unsigned const i = threadIdx.x, j = blockDim.x - 1 - i;
  for (int k = 0; k < 6; ++k) both[k * blockDim.x + i] = b[k * blockDim.x + i];
  ints[i] = a[i];
  __syncthreads();
  for (int k = 0; k < 6; ++k) b[k * blockDim.x + i] = both[k * blockDim.x + j];
  a[i] = ints[j];
}

int main() {
  int const n = 100000;
  Numbers numbers;
  auto const x = numbers.units(n);
  double expected = 0;
  for (float const v : x) expected += v;
  float* const d_x = on_device(x);
  float* const partial = zeros_on_device<float>(64);
  float* const result = zeros_on_device<float>(1);
  for (unsigned const block : {64u, 256u, 1024u}) {
    sum<<<24, block, block / 32 * sizeof(float)>>>(d_x, partial, result, n);
    CHECK(cudaGetLastError());
    expect_near(from_device(result, 1), {static_cast<float>(expected)}, 1e-5, "sum");
  }
  constexpr int items = 1024;
  std::vector<int> a(items);
  std::vector<double> b(6 * items);
  for (int i = 0; i < items; ++i) a[i] = i;
  for (int i = 0; i < 6 * items; ++i) b[i] = i + 0.5;
  int* const d_a = on_device(a);
  double* const d_b = on_device(b);
  constexpr std::size_t bytes = items * (6 * sizeof(double) + sizeof(int));
  CHECK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  reverse<<<1, items, bytes>>>(d_a, d_b);
  CHECK(cudaGetLastError());
  std::vector<int> ra(items);
  std::vector<double> rb(6 * items);
  for (int i = 0; i < items; ++i) {
    ra[i] = a[items - 1 - i];
    for (int k = 0; k < 6; ++k) rb[k * items + i] = b[k * items + items - 1 - i];
  }
  expect_equal(from_device(d_a, items), ra, "ints in 52 KB of shared memory");
  expect_equal(from_device(d_b, 6 * items), rb, "doubles in 52 KB of shared memory");
  return finish();
}
