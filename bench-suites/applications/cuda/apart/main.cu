// Sums of series: device code in two files, compiled apart (-rdc=true) and linked.
#include "../app.hpp"
#include "series.hpp"

static __device__ unsigned calls[1];

static __device__ double inverse_power(int n) {
  atomicAdd(&calls[0], 1u);
  return 1 / power<2>(n);
}
static __device__ double inverse_square(int n) {
  return 1.0 / ((n + 1.0) * (n + 1.0));
}

__global__ void sum(double* out, int last, bool squares) {
  int const i = threadIdx.x;
  out[i] = partial_sum(squares ? inverse_square : inverse_power, i, last);
}

int main() {
  int const n = 64, last = 40;
  auto* const out = zeros_on_device<double>(n);
  double const twice = 2;
  CHECK(cudaMemcpyToSymbol(scale, &twice, sizeof twice));
  for (bool const squares : {false, true}) {
    sum<<<1, n>>>(out, last, squares);
    CHECK(cudaDeviceSynchronize());
    std::vector<double> expected(n);
    for (int i = 0; i < n; ++i) {
      for (int k = i; k < last; ++k) expected[i] += squares ? 1.0 / ((k + 1.0) * (k + 1.0)) : std::pow(0.5, k);
      expected[i] *= twice;
    }
    expect_near(from_device(out, n), expected, 1e-12, squares ? "inverse squares" : "inverse powers");
  }
  unsigned used = 0, called = 0;
  CHECK(cudaMemcpyFromSymbol(&used, terms_used, sizeof used));
  CHECK(cudaMemcpyFromSymbol(&called, calls, sizeof called));
  int terms = 0;
  for (int i = 0; i < n; ++i) terms += last - i;  // negative behind the last term, as in the kernel
  expect(used == 2u * static_cast<unsigned>(terms), "terms counted in the other file's variable");
  expect(called == static_cast<unsigned>(last * (last + 1) / 2), "calls counted in a variable of this file");
  return finish();
}
