// A Jacobi iteration on pitched memory, two kernels in turn until it has converged; copies of rectangles.
#include "app.hpp"

#include <utility>

constexpr int width = 61, height = 45;

__device__ float* row(float* at, std::size_t pitch, int y) {
  return reinterpret_cast<float*>(reinterpret_cast<char*>(at) + y * pitch);
}
__global__ void relax(float* from, float* to, std::size_t pitch) {
  int const x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x >= width - 1 || y >= height - 1) return;
  row(to, pitch, y)[x] = 0.25f * (row(from, pitch, y)[x - 1] + row(from, pitch, y)[x + 1] + row(from, pitch, y - 1)[x] +
                                  row(from, pitch, y + 1)[x]);
}
__global__ void largest_change(float* a, float* b, std::size_t pitch, unsigned* change) {
  int const x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height)  // floats that are not negative are ordered like their bits
    atomicMax(change, __float_as_uint(fabsf(row(a, pitch, y)[x] - row(b, pitch, y)[x])));
}

int main() {
  std::vector<float> a(width * height), b;
  for (int x = 0; x < width; ++x) a[x] = 1, a[(height - 1) * width + x] = static_cast<float>(x) / width;
  b = a;
  float *d_a, *d_b;
  std::size_t pitch = 0, pitch_b = 0;
  CHECK(cudaMallocPitch(reinterpret_cast<void**>(&d_a), &pitch, width * sizeof(float), height));
  CHECK(cudaMallocPitch(reinterpret_cast<void**>(&d_b), &pitch_b, width * sizeof(float), height));
  expect(pitch == pitch_b && pitch >= width * sizeof(float), "pitch");
  for (float* const d : {d_a, d_b})
    CHECK(
        cudaMemcpy2D(d, pitch, a.data(), width * sizeof(float), width * sizeof(float), height, cudaMemcpyHostToDevice));
  unsigned* const d_change = zeros_on_device<unsigned>(1);
  dim3 const block(16, 16), grid((width + 15) / 16, (height + 15) / 16);
  int rounds = 0, host_rounds = 0;
  for (float change = 1; change > 1e-3f && rounds < 500; ++rounds) {
    relax<<<grid, block>>>(d_a, d_b, pitch);
    CHECK(cudaMemset(d_change, 0, sizeof(unsigned)));
    largest_change<<<grid, block>>>(d_a, d_b, pitch, d_change);
    CHECK(cudaMemcpy(&change, d_change, sizeof change, cudaMemcpyDeviceToHost));
    std::swap(d_a, d_b);
  }
  for (float change = 1; change > 1e-3f && host_rounds < 500; ++host_rounds) {
    change = 0;
    for (int y = 1; y < height - 1; ++y)
      for (int x = 1; x < width - 1; ++x) {
        float const* const at = &a[y * width + x];
        b[y * width + x] = 0.25f * (at[-1] + at[1] + at[-width] + at[width]);
        change = std::fmax(change, std::fabs(b[y * width + x] - *at));
      }
    std::swap(a, b);
  }
  expect(rounds == host_rounds, "rounds");
  std::vector<float> got(width * height);
  CHECK(cudaMemcpy2D(got.data(), width * sizeof(float), d_a, pitch, width * sizeof(float), height,
                     cudaMemcpyDeviceToHost));
  expect_near(got, a, 1e-6, "the field");

  // A rectangle within the field to another place, and set to a byte.
  CHECK(cudaMemcpy2D(d_b + 3, pitch, d_a + 10, pitch, 5 * sizeof(float), 7, cudaMemcpyDeviceToDevice));
  CHECK(cudaMemset2D(reinterpret_cast<char*>(d_b) + 20 * pitch, pitch, 0, 4 * sizeof(float), 2));
  std::vector<float> part(5 * 7), zeros(8);
  CHECK(cudaMemcpy2D(part.data(), 5 * sizeof(float), d_b + 3, pitch, 5 * sizeof(float), 7, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy2D(zeros.data(), 4 * sizeof(float), reinterpret_cast<char*>(d_b) + 20 * pitch, pitch,
                     4 * sizeof(float), 2, cudaMemcpyDeviceToHost));
  std::vector<float> expected;
  for (int y = 0; y < 7; ++y)
    for (int x = 10; x < 15; ++x) expected.push_back(got[y * width + x]);
  expect_equal(part, expected, "a rectangle");
  expect_equal(zeros, std::vector<float>(8), "zeros");
  return finish();
}
