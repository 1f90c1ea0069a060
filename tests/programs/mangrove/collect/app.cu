// An application for mangrove collect: kernels whose results change when they run more than once, unless the memory is
// put back: of cudaMalloc, of the host, and of a __device__ variable; one on a stream, one whose launch fails.
#include <cstdio>
#include <vector>

__device__ int turns = 0;

__global__ void increase(float* x, float* on_host) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] += 1;
  if (i < 32) on_host[i] += 2;
  if (i == 0) atomicAdd(&turns, 1);
}

__global__ void scale(float* x, float by) {
  x[blockIdx.x * blockDim.x + threadIdx.x] *= by;
}

int main() {
  int const n = 1024;
  float *x, *on_host, *on_host_seen;
  if (cudaMalloc(&x, n * sizeof(float)) != cudaSuccess) {
    std::puts("no device");
    return 3;
  }
  cudaHostAlloc(&on_host, 32 * sizeof(float), cudaHostAllocMapped);
  cudaHostGetDevicePointer(&on_host_seen, on_host, 0);
  for (int i = 0; i < 32; ++i) on_host[i] = 0;
  cudaMemset(x, 0, n * sizeof(float));
  for (int k = 0; k < 3; ++k) increase<<<n / 256, 256>>>(x, on_host_seen);  // one configuration
  increase<<<n / 128, 128>>>(x, on_host_seen);                              // another
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  scale<<<n / 256, 256, 0, stream>>>(x, 3.0f);
  cudaStreamSynchronize(stream);
  scale<<<1, 4096>>>(x, 3.0f);  // more work-items than a work-group can have
  bool right = cudaGetLastError() != cudaSuccess;
  std::vector<float> seen(n);
  cudaMemcpy(seen.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost);
  int turned = 0;
  cudaMemcpyFromSymbol(&turned, turns, sizeof turned);
  for (float value : seen) right = right && value == 12;
  for (int i = 0; i < 32; ++i) right = right && on_host[i] == 8;
  std::printf("%s %d\n", right ? "right" : "wrong", turned);
  cudaFree(x);
  cudaFreeHost(on_host);
  return right ? 0 : 5;
}
