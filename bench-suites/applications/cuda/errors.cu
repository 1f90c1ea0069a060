// Errors: refused launches and calls leave the program able to go on; the last is an access outside all memory, after
// which nothing works.
#include <cstring>

#include "app.hpp"

__global__ void write(int* at, int value) {
  at[threadIdx.x] = value;
}

int main() {
  CHECK(cudaFree(nullptr));  // a common way to start the runtime
  int* x = zeros_on_device<int>(64);

  write<<<1, 2048>>>(x, 1);
  expect(cudaPeekAtLastError() == cudaErrorInvalidConfiguration, "too large a group");
  expect(cudaGetLastError() == cudaErrorInvalidConfiguration, "the last error");
  expect(cudaGetLastError() == cudaSuccess, "the last error once read");
  write<<<0, 32>>>(x, 1);
  expect(cudaGetLastError() == cudaErrorInvalidConfiguration, "an empty grid");
  write<<<1, 32, 1 << 20>>>(x, 1);
  expect(cudaGetLastError() == cudaErrorInvalidValue, "too much shared memory");

  expect(cudaMemcpy(x, nullptr, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue, "a copy from nowhere");
  expect(cudaSetDevice(1000) == cudaErrorInvalidDevice, "no such device");
  void* much = nullptr;
  expect(cudaMalloc(&much, std::size_t{1} << 60) == cudaErrorMemoryAllocation && !much, "too much memory");
  int on_stack = 0;
  expect(cudaFree(&on_stack) == cudaErrorInvalidValue, "freeing what is none of its own");
  cudaEvent_t event;
  float time_ms = 0;
  CHECK(cudaEventCreate(&event));
  expect(cudaEventElapsedTime(&time_ms, event, event) == cudaErrorInvalidResourceHandle, "time of no event");
  cudaGetLastError();
  expect(std::strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0, "a name");
  expect(std::strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument") == 0, "words");
  expect(std::strcmp(cudaGetErrorString(cudaSuccess), "no error") == 0, "words for success");

  write<<<1, 64>>>(x, 7);
  expect(cudaDeviceSynchronize() == cudaSuccess, "still working");
  expect_equal(from_device(x, 64), std::vector<int>(64, 7), "the kernel");

  write<<<1, 64>>>(reinterpret_cast<int*>(16), 7);
  expect(cudaGetLastError() == cudaSuccess, "launched");
  expect(cudaDeviceSynchronize() == cudaErrorIllegalAddress, "an access outside");
  expect(cudaMalloc(&much, 4) == cudaErrorIllegalAddress, "nothing works any more");
  CHECK(cudaDeviceReset());
  return finish();
}
