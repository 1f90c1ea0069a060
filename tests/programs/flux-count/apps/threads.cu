// Four host threads, each with a stream of its own on one of two devices where there are two; cooperative launches
// among the others. Prints "right" where every value is as it must be.
#include <cooperative_groups.h>

#include <cstdio>
#include <thread>
#include <vector>

constexpr int n = 512, threads = 4, rounds = 10;

__global__ void add(int* x, int value, int bound) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < bound) x[i] += value;
}

// Every element of the first half becomes the sum of itself and its partner, in all of which the grid agrees.
__global__ void fold(int* x, int half) {
  int const i = threadIdx.x;
  int const partner = x[(i + half) % (2 * half)];
  cooperative_groups::this_grid().sync();
  x[i] += partner;
}

bool must(cudaError_t error) {
  if (error != cudaSuccess) std::printf("CUDA error %d\n", static_cast<int>(error));
  return error == cudaSuccess;
}

bool work(int thread, int devices) {
  if (!must(cudaSetDevice(thread % devices))) return false;
  cudaStream_t stream;
  int* x;
  if (!must(cudaStreamCreate(&stream)) || !must(cudaMalloc(&x, n * sizeof(int)))) return false;
  if (!must(cudaMemsetAsync(x, 0, n * sizeof(int), stream))) return false;
  std::vector<int> expected(n, 0), got(n);
  for (int round = 0; round < rounds; ++round) {
    int const bound = 100 * (thread + 1) + round;
    add<<<4, 128, 0, stream>>>(x, round + 1, bound);
    for (int i = 0; i < bound; ++i) expected[i] += round + 1;
    if (round % 5) continue;
    int half = 64;
    void* arguments[] = {&x, &half};
    if (!must(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(fold), dim3(1), dim3(64), arguments, 0, stream)))
      return false;
    for (int i = 0; i < half; ++i) expected[i] += expected[i + half];
  }
  if (!must(cudaMemcpyAsync(got.data(), x, n * sizeof(int), cudaMemcpyDeviceToHost, stream))) return false;
  return must(cudaStreamSynchronize(stream)) && got == expected;
}

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("no device");
    return 3;
  }
  if (devices > 2) devices = 2;
  std::vector<std::thread> all;
  bool right[threads] = {};
  for (int t = 0; t < threads; ++t) all.emplace_back([&right, t, devices] { right[t] = work(t, devices); });
  bool every = true;
  for (int t = 0; t < threads; ++t) {
    all[t].join();
    every &= right[t];
  }
  std::puts(every ? "right" : "wrong");
  return every ? 0 : 5;
}
