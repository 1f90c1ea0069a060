#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

namespace lib {
template <class T>
__global__ void fill(T* out, T value) { out[blockIdx.x * blockDim.x + threadIdx.x] = value; }
}  // namespace lib

__global__ void matmul(float* a, const float* b, int n) {
  __shared__ float tile[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x & 31] = b[i] * sinf(a[i]);
  __syncthreads();
  float v = tile[31 - (threadIdx.x & 31)];
  v += __shfl_down_sync(0xffffffffu, v, 1);
  if (i < n) a[i] = v;
}
__global__ void scale(float* a) { a[threadIdx.x] *= 2; }
__global__ void scale(double* a) { a[threadIdx.x] *= 2; }

int main() {
  float* device = nullptr;
  std::vector<float> host(1024);
  cudaMalloc(&device, host.size() * sizeof(float));
  cudaMemcpy(device, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  matmul<<<8, 128>>>(device, device, 1024);
  lib::fill<float><<<8, 128>>>(device, 1.0f);
  lib::fill<double><<<8, 128>>>(reinterpret_cast<double*>(device), 1.0);
  std::printf("%d\n", static_cast<int>(cudaDeviceSynchronize()));
  cudaFree(device);
}
