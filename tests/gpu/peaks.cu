// What other code reaches on the device: products of large matrices by cuBLAS, and copies of 256 MiB of pinned memory.
// CSV: what,value in flop/s and B/s, the best of ten. Compile with -lcublas.
#include <cublas_v2.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

void check(bool good, char const* what) {
  if (good) return;
  std::fprintf(stderr, "%s failed\n", what);
  std::exit(3);
}

template <class Work>
double shortest_s(Work const& work) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  float best = 1e30f;
  work();
  for (int i = 0; i < 10; ++i) {
    float ms = 0;
    cudaEventRecord(begin);
    work();
    cudaEventRecord(end);
    check(cudaEventSynchronize(end) == cudaSuccess, "the work");
    cudaEventElapsedTime(&ms, begin, end);
    best = std::min(best, ms);
  }
  return best * 1e-3;
}

// Random numbers: products of zeros would run at a higher clock.
template <class T>
T* matrix(std::size_t n) {
  std::vector<T> values(n * n);
  unsigned state = 1;
  for (auto& x : values) x = static_cast<T>((state = state * 1664525u + 1013904223u) >> 8) / (1 << 24);
  T* memory = nullptr;
  check(cudaMalloc(&memory, n * n * sizeof(T)) == cudaSuccess, "cudaMalloc");
  cudaMemcpy(memory, values.data(), n * n * sizeof(T), cudaMemcpyHostToDevice);
  return memory;
}

template <class T, class Product>
void product(char const* what, int n, Product const& multiply) {
  cublasHandle_t handle;
  check(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS, "cublasCreate");
  // No tensor cores, which have a peak of their own.
  cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH);
  T *a = matrix<T>(n), *b = matrix<T>(n), *c = matrix<T>(n);
  T const one = 1, zero = 0;
  double const s = shortest_s([&] {
    check(multiply(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, c, n) == CUBLAS_STATUS_SUCCESS,
          what);
  });
  std::printf("%s,%.6g\n", what, 2.0 * n * n * n / s);
  cudaFree(a), cudaFree(b), cudaFree(c);
  cublasDestroy(handle);
}

int main() {
  std::printf("what,value\n");
  product<float>("fp32", 8192, cublasSgemm);
  product<double>("fp64", 4096, cublasDgemm);
  std::size_t const bytes = std::size_t{256} << 20;
  void *host = nullptr, *device = nullptr;
  check(cudaMallocHost(&host, bytes) == cudaSuccess, "cudaMallocHost");
  check(cudaMalloc(&device, bytes) == cudaSuccess, "cudaMalloc");
  auto* const words = static_cast<unsigned*>(host);
  for (std::size_t i = 0; i < bytes / 4; ++i) words[i] = static_cast<unsigned>(i * 2654435761u);
  std::printf("h2d,%.6g\n", static_cast<double>(bytes) /
                                shortest_s([&] { cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice); }));
  std::printf("d2h,%.6g\n", static_cast<double>(bytes) /
                                shortest_s([&] { cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost); }));
}
