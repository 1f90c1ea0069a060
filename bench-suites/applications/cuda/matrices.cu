// Products of matrices in double precision, by tiles in shared memory, and of halves on tensor cores.
#include <cuda_fp16.h>
#include <mma.h>

#include "app.hpp"

constexpr int tile = 16;

__global__ void multiply(double const* a, double const* b, double* c, int n) {
  __shared__ double ta[tile][tile], tb[tile][tile + 1];
  int const row = blockIdx.y * tile + threadIdx.y, column = blockIdx.x * tile + threadIdx.x;
  double sum = 0;
  for (int k = 0; k < n; k += tile) {
    ta[threadIdx.y][threadIdx.x] = row < n && k + threadIdx.x < n ? a[row * n + k + threadIdx.x] : 0;
    tb[threadIdx.y][threadIdx.x] = column < n && k + threadIdx.y < n ? b[(k + threadIdx.y) * n + column] : 0;
    __syncthreads();
#pragma unroll
    for (int j = 0; j < tile; ++j) sum += ta[threadIdx.y][j] * tb[j][threadIdx.x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

__global__ void multiply_halves(half const* a, half const* b, float* c, int n) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, half, row_major> fa;
  fragment<matrix_b, 16, 16, 16, half, row_major> fb;
  fragment<accumulator, 16, 16, 16, float> fc;
  fill_fragment(fc, 0.0f);
  int const row = blockIdx.y * 16, column = blockIdx.x * 16;
  for (int k = 0; k < n; k += 16) {
    load_matrix_sync(fa, a + row * n + k, n);
    load_matrix_sync(fb, b + k * n + column, n);
    mma_sync(fc, fa, fb, fc);
  }
  store_matrix_sync(c + row * n + column, fc, n, mem_row_major);
}

int main() {
  int const n = 75, m = 64;
  Numbers numbers;
  std::vector<double> a(n * n), b(n * n), expected(n * n);
  for (auto& v : a) v = numbers.unit() - 0.5;
  for (auto& v : b) v = numbers.unit() - 0.5;
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j) expected[i * n + j] += a[i * n + k] * b[k * n + j];
  double* const c = zeros_on_device<double>(n * n);
  multiply<<<dim3(5, 5), dim3(tile, tile)>>>(on_device(a), on_device(b), c, n);
  expect_near(from_device(c, n * n), expected, 1e-13, "double precision");

  std::vector<half> ha(m * m), hb(m * m);
  for (auto& v : ha) v = __float2half(numbers.unit());
  for (auto& v : hb) v = __float2half(numbers.unit());
  std::vector<float> expected_f(m * m);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) {
      double sum = 0;
      for (int k = 0; k < m; ++k) sum += double(__half2float(ha[i * m + k])) * __half2float(hb[k * m + j]);
      expected_f[i * m + j] = static_cast<float>(sum);
    }
  float* const d = zeros_on_device<float>(m * m);
  multiply_halves<<<dim3(m / 16, m / 16), 32>>>(on_device(ha), on_device(hb), d, m);
  expect_near(from_device(d, m * m), expected_f, 1e-5, "halves");
  return finish();
}
