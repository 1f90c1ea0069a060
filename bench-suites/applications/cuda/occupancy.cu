// What a program asks of the device before it launches: properties, attributes, occupancy, the best size of a group,
// attributes of a kernel. The words are the same on every device.
#include "app.hpp"

__global__ void plain(float* x, int n) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 2 * x[i] + 1;
}
__global__ void __launch_bounds__(128) with_shared(float* x) {
  __shared__ float own[2048];
  extern __shared__ float further[];
  own[threadIdx.x] = x[threadIdx.x];
  further[threadIdx.x] = own[threadIdx.x] + 1;
  __syncthreads();
  x[threadIdx.x] = further[blockDim.x - 1 - threadIdx.x];
}

int main() {
  int count = 0, device = -1, warp = 0, most = 0, runtime = 0, driver = 0;
  CHECK(cudaGetDeviceCount(&count));
  CHECK(cudaSetDevice(0));
  CHECK(cudaGetDevice(&device));
  cudaDeviceProp p{};
  CHECK(cudaGetDeviceProperties(&p, device));
  CHECK(cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device));
  CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerMultiProcessor, device));
  CHECK(cudaRuntimeGetVersion(&runtime));
  CHECK(cudaDriverGetVersion(&driver));
  expect(count >= 1 && device == 0, "a device");
  expect(p.name[0] != '\0' && p.major >= 5 && p.multiProcessorCount > 0, "properties");
  expect(p.warpSize == 32 && warp == p.warpSize && most == p.maxThreadsPerMultiProcessor, "attributes");
  expect(p.maxThreadsPerBlock == 1024 && p.sharedMemPerBlock >= 48 << 10 && p.totalGlobalMem > 1 << 28, "limits");
  expect(runtime >= 11000 && driver >= runtime / 1000 * 1000, "versions");
  std::size_t available = 0, total = 0;
  CHECK(cudaMemGetInfo(&available, &total));
  expect(available <= total && total > 0, "memory");

  cudaFuncAttributes of_plain{}, of_shared{};
  CHECK(cudaFuncGetAttributes(&of_plain, plain));
  CHECK(cudaFuncGetAttributes(&of_shared, with_shared));
  expect(of_plain.sharedSizeBytes == 0 && of_shared.sharedSizeBytes == 2048 * sizeof(float), "static shared memory");
  expect(of_plain.numRegs > 0 && of_plain.maxThreadsPerBlock >= 256, "registers");
  expect(of_shared.maxThreadsPerBlock == 128, "launch bounds");

  int groups = 0, fewer = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&groups, plain, 256, 0));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fewer, plain, 256, 24 << 10));
  expect(groups * 256 <= most && groups > 0, "occupancy");
  expect(fewer > 0 && fewer <= groups && fewer * (24u << 10) <= p.sharedMemPerMultiprocessor,
         "occupancy with shared memory");
  int grid = 0, block = 0;
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, plain, 0, 0));
  expect(block % 32 == 0 && block >= 128 && grid >= p.multiProcessorCount, "the best size");

  int const n = 5000;
  Numbers numbers;
  auto x = numbers.units(n);
  float* const d_x = on_device(x);
  plain<<<(n + block - 1) / block, block>>>(d_x, n);
  for (auto& v : x) v = 2 * v + 1;
  expect_near(from_device(d_x, n), x, 1e-6, "the kernel");
  with_shared<<<1, 128, 128 * sizeof(float)>>>(d_x);
  std::vector<float> reversed(128);
  for (int i = 0; i < 128; ++i) reversed[i] = x[127 - i] + 1;
  expect_near(from_device(d_x, 128), reversed, 1e-6, "the kernel with shared memory");
  return finish();
}
