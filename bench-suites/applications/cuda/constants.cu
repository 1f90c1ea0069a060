// Constant memory: a filter and its parameters are copied to symbols before each launch; device variables are read
// back.
#include "app.hpp"

constexpr int radius = 8, tile = 128;

struct Parameters {
  int width;
  float scale;
};
__constant__ float filter[2 * radius + 1];
__constant__ Parameters parameters;
__device__ unsigned groups_done;
__device__ float largest_of_group[64];

__global__ void convolve(float const* in, float* out) {
  __shared__ float loaded[tile + 2 * radius];
  int const base = blockIdx.x * tile - radius;
  for (int k = threadIdx.x; k < tile + 2 * radius; k += tile)
    loaded[k] = base + k >= 0 && base + k < parameters.width ? in[base + k] : 0;
  __syncthreads();
  int const i = blockIdx.x * tile + threadIdx.x;
  float sum = 0;
  for (int k = 0; k <= 2 * radius; ++k) sum += filter[k] * loaded[threadIdx.x + k];
  if (i < parameters.width) out[i] = sum * parameters.scale;
  __syncthreads();
  loaded[threadIdx.x] = i < parameters.width ? sum * parameters.scale : -1e30f;
  __syncthreads();
  if (threadIdx.x == 0) {
    float largest = loaded[0];
    for (int k = 1; k < tile; ++k) largest = fmaxf(largest, loaded[k]);
    largest_of_group[blockIdx.x] = largest;
    atomicAdd(&groups_done, 1u);
  }
}

int main() {
  int const n = 5000, groups = (n + tile - 1) / tile;
  Numbers numbers;
  auto const in = numbers.units(n);
  float* const d_in = on_device(in);
  float* const d_out = zeros_on_device<float>(n);
  for (int round = 0; round < 2; ++round) {
    auto const weights = numbers.units(2 * radius + 1);
    Parameters const p{n - 100 * round, 0.5f + round};
    unsigned const none = 0;
    CHECK(cudaMemcpyToSymbol(filter, weights.data(), weights.size() * sizeof(float)));
    CHECK(cudaMemcpyToSymbol(parameters, &p, sizeof p));
    CHECK(cudaMemcpyToSymbol(groups_done, &none, sizeof none));
    convolve<<<groups, tile>>>(d_in, d_out);
    CHECK(cudaGetLastError());
    auto const got = from_device(d_out, p.width);
    std::vector<float> expected(p.width);
    for (int i = 0; i < p.width; ++i) {
      double sum = 0;
      for (int k = -radius; k <= radius; ++k)
        if (i + k >= 0 && i + k < p.width) sum += double(weights[k + radius]) * in[i + k];
      expected[i] = static_cast<float>(sum * p.scale);
    }
    expect_near(got, expected, 1e-5, "convolution");
    unsigned done = 0;
    std::vector<float> largest(groups), expected_largest(groups, -1e30f);
    CHECK(cudaMemcpyFromSymbol(&done, groups_done, sizeof done));
    CHECK(cudaMemcpyFromSymbol(largest.data(), largest_of_group, groups * sizeof(float)));
    for (int i = 0; i < p.width; ++i) expected_largest[i / tile] = std::fmax(expected_largest[i / tile], expected[i]);
    expect(done == static_cast<unsigned>(groups), "groups");
    expect_near(largest, expected_largest, 1e-5, "largest of each group");
  }
  // Part of a symbol, by its address and by an offset.
  float* at = nullptr;
  std::size_t bytes = 0;
  CHECK(cudaGetSymbolAddress(reinterpret_cast<void**>(&at), largest_of_group));
  CHECK(cudaGetSymbolSize(&bytes, largest_of_group));
  float third = 0;
  float const mark = 42;
  CHECK(cudaMemcpyToSymbol(largest_of_group, &mark, sizeof mark, 2 * sizeof(float)));
  CHECK(cudaMemcpy(&third, at + 2, sizeof third, cudaMemcpyDeviceToHost));
  expect(bytes == 64 * sizeof(float) && third == mark, "a symbol's address and size");
  return finish();
}
