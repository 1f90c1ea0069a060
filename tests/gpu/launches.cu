// So many launches of a short kernel; prints the microseconds that all took together.
#include <chrono>
#include <cstdio>
#include <cstdlib>

__global__ void step(float* x, int n) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * 0.5f + 1;
}

int main(int argc, char** argv) {
  int const launches = argc > 1 ? std::atoi(argv[1]) : 1, n = 1 << 14;
  float* x;
  if (cudaMalloc(&x, n * sizeof(float)) != cudaSuccess) return 3;
  step<<<n / 256, 256>>>(x, n - 1);
  cudaDeviceSynchronize();
  auto const begin = std::chrono::steady_clock::now();
  for (int k = 0; k < launches; ++k) step<<<n / 256, 256>>>(x, n - 1);
  if (cudaDeviceSynchronize() != cudaSuccess) return 4;
  std::printf("%.0f\n",
              std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
}
