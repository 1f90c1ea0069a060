// The sum of two arrays of a million floats in managed memory that the host has filled: as they lie, prefetched, or
// filled by a kernel. The commands are those of M. Harris, Unified Memory for CUDA Beginners, NVIDIA's blog, 2017.
//   managed faults|prefetched|filled
#include <cstdio>
#include <cstring>

constexpr int size = 1 << 20, group = 256;

__global__ void add(int n, float const* x, float* y) {
  int const stride = static_cast<int>(blockDim.x * gridDim.x);
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += stride) y[i] = x[i] + y[i];
}

__global__ void fill(int n, float* x, float* y) {
  int const stride = static_cast<int>(blockDim.x * gridDim.x);
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += stride) x[i] = 1, y[i] = 2;
}

int main(int count, char** arguments) {
  char const* const how = count > 1 ? arguments[1] : "";
  float *x = nullptr, *y = nullptr;
  if (cudaMallocManaged(&x, size * sizeof(float)) || cudaMallocManaged(&y, size * sizeof(float))) return 1;
  if (!std::strcmp(how, "filled")) {
    fill<<<size / group, group>>>(size, x, y);
  } else if (!std::strcmp(how, "faults") || !std::strcmp(how, "prefetched")) {
    for (int i = 0; i < size; ++i) x[i] = 1, y[i] = 2;
  } else {
    return std::fprintf(stderr, "managed faults|prefetched|filled\n"), 2;
  }
  if (!std::strcmp(how, "prefetched")) {
    cudaMemLocation const device{cudaMemLocationTypeDevice, 0};
    cudaMemPrefetchAsync(x, size * sizeof(float), device, 0, 0);
    cudaMemPrefetchAsync(y, size * sizeof(float), device, 0, 0);
  }
  add<<<size / group, group>>>(size, x, y);
  return cudaDeviceSynchronize() ? 1 : 0;
}
