// Memory from pools, in the order of a stream; copies between two allocations by every kind; a device's own memory set
// by words.
#include "app.hpp"

__global__ void add_index(int* x, int n) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += i;
}

int main() {
  int const n = 1000;
  std::size_t const bytes = n * sizeof(int);
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  std::vector<int> got(n), expected(n);
  for (int round = 0; round < 3; ++round) {
    int *x, *y;
    CHECK(cudaMallocAsync(reinterpret_cast<void**>(&x), bytes, stream));
    CHECK(cudaMallocAsync(reinterpret_cast<void**>(&y), bytes, stream));
    CHECK(cudaMemsetAsync(x, round, bytes, stream));
    add_index<<<8, 128, 0, stream>>>(x, n);
    CHECK(cudaMemcpyAsync(y, x, bytes, cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaFreeAsync(x, stream));
    add_index<<<8, 128, 0, stream>>>(y, n);
    CHECK(cudaMemcpyAsync(got.data(), y, bytes, cudaMemcpyDefault, stream));
    CHECK(cudaFreeAsync(y, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < n; ++i) expected[i] = 0x01010101 * round + 2 * i;
    expect_equal(got, expected, "memory in the order of a stream");
  }
  // Memory of the host that the device may use.
  int *host = nullptr, *mapped = nullptr;
  CHECK(cudaHostAlloc(reinterpret_cast<void**>(&host), bytes, cudaHostAllocMapped));
  for (int i = 0; i < n; ++i) host[i] = 5;
  CHECK(cudaHostGetDevicePointer(reinterpret_cast<void**>(&mapped), host, 0));
  add_index<<<8, 128>>>(mapped, n);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) expected[i] = 5 + i;
  expect_equal(std::vector<int>(host, host + n), expected, "memory of the host");
  CHECK(cudaFreeHost(host));
  std::vector<int> own(n, 7);
  CHECK(cudaHostRegister(own.data(), bytes, cudaHostRegisterMapped));
  CHECK(cudaHostGetDevicePointer(reinterpret_cast<void**>(&mapped), own.data(), 0));
  add_index<<<8, 128>>>(mapped, n);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaHostUnregister(own.data()));
  for (int i = 0; i < n; ++i) expected[i] = 7 + i;
  expect_equal(own, expected, "registered memory of the host");
  return finish();
}
