// A cooperative launch: every group reads what all others wrote before the barrier over the grid. A launch whose groups
// wait for each other all the same. And several devices, a memory pool, managed memory, device-side printf.
#include <cooperative_groups.h>

#include <cstdio>
#include <vector>

#include "check.hpp"

namespace cg = cooperative_groups;

__global__ void rounds(int* values, int* sums, int n, int times) {
  auto const grid = cg::this_grid();
  int const i = static_cast<int>(grid.thread_rank());
  for (int t = 0; t < times; ++t) {
    if (i < n) values[i] += i + t;
    grid.sync();
    if (i == t) {
      int sum = 0;
      for (int k = 0; k < n; ++k) sum += values[k];
      sums[t] = sum;
    }
    grid.sync();
  }
}

__global__ void meet(int* arrived, int* seen) {
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1);
    while (atomicAdd(arrived, 0) < static_cast<int>(gridDim.x)) {
    }
  }
  __syncthreads();
  seen[blockIdx.x * blockDim.x + threadIdx.x] = *arrived;
}

__global__ void greet(int device) {
  printf("device %d, thread %d\n", device, threadIdx.x);
}

int main() {
  constexpr int n = 400, times = 3;
  int per_unit = 0, units = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_unit, rounds, 64, 0));
  CHECK(cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, 0));
  int *values, *sums;
  CHECK(cudaMallocAsync(&values, n * sizeof(int), nullptr));
  CHECK(cudaMallocManaged(&sums, times * sizeof(int)));
  CHECK(cudaMemset(values, 0, n * sizeof(int)));
  int count = n, repeat = times;
  void* arguments[] = {&values, &sums, &count, &repeat};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(rounds), dim3(7), dim3(64), arguments, 0, nullptr));
  CHECK(cudaDeviceSynchronize());
  int expected = 0;
  for (int t = 0; t < times; ++t) {
    expected += n * (n - 1) / 2 + n * t;
    std::printf("round %d: %d %s\n", t, sums[t], sums[t] == expected ? "right" : "wrong");
    failures += sums[t] != expected;
  }
  constexpr int groups = 4;
  CHECK(cudaMemset(values, 0, n * sizeof(int)));
  meet<<<groups, 32>>>(values, values + 1);
  std::vector<int> met(1 + groups * 32);
  CHECK(cudaMemcpy(met.data(), values, met.size() * sizeof(int), cudaMemcpyDeviceToHost));
  for (int const m : met) failures += m != groups;
  std::printf("groups that wait without saying so: %s\n", failures == 0 ? "right" : "wrong");
  dim3 const too_many(static_cast<unsigned>(per_unit * units) + 1);
  auto const refused =
      cudaLaunchCooperativeKernel(reinterpret_cast<void*>(rounds), too_many, dim3(64), arguments, 0, nullptr);
  std::printf("one group too many: %s\n", cudaGetErrorName(refused));
  cudaGetLastError();
  CHECK(cudaFreeAsync(values, nullptr));
  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices));
  for (int d = 0; d < devices; ++d) {
    CHECK(cudaSetDevice(d));
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, d));
    std::printf("%s: %d units\n", properties.name, properties.multiProcessorCount);
    greet<<<1, 2>>>(d);
    CHECK(cudaDeviceSynchronize());
  }
  std::printf("%d failures\n", failures);
  return failures ? 1 : 0;
}
