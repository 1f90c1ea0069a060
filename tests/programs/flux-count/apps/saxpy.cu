// An application for flux-count --attach: a kernel in a loop, one without a way around, one on a stream.
#include <cstdio>
#include <vector>

__global__ void saxpy(float const* x, float* y, float a, int n) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

__global__ void fill(float* x, float value) {
  x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void power(float* x, int n) {
  int const i = threadIdx.x;
  float p = 1;
#pragma unroll 1
  for (int k = 0; k < i % n; ++k) p *= x[i];
  x[i] = p;
}

int main() {
  int const n = 1000;
  float *x, *y;
  if (cudaMalloc(&x, 1024 * sizeof(float)) != cudaSuccess) {
    std::puts("no device");
    return 3;
  }
  cudaMalloc(&y, 1024 * sizeof(float));
  fill<<<4, 256>>>(x, 2);
  fill<<<4, 256>>>(y, 1);
  for (int k = 0; k < 3; ++k) saxpy<<<4, 256>>>(x, y, 0.5f, n - 100 * k);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  power<<<1, 64, 0, stream>>>(x, 7);
  cudaStreamSynchronize(stream);
  if (cudaDeviceSynchronize() != cudaSuccess) return 4;
  std::vector<float> hx(1024), hy(1024);
  cudaMemcpy(hx.data(), x, 1024 * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(hy.data(), y, 1024 * sizeof(float), cudaMemcpyDeviceToHost);
  bool right = true;
  for (int i = 0; i < 1024; ++i) {
    float const times = (i < 1000) + (i < 900) + (i < 800);
    right &= hy[i] == 1 + times;
    if (i < 64) right &= hx[i] == static_cast<float>(1 << i % 7);
  }
  std::puts(right ? "right" : "wrong");
  cudaFree(x);
  cudaFree(y);
  return right ? 0 : 5;
}
