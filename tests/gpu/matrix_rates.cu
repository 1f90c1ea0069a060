// Rate of a matrix unit: the kernel of microbench/matrix/nvidia.cu that -DPRODUCT_<name> chooses, on all compute units
// for long enough. CSV: products of one work-item and iteration times CHAINS, over the time, the best of five; the
// argument is the operations of one of them (flop of microbench/matrix/kernels.toml). -DSMALL: a launch that an
// emulator ends soon.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../../microbench/cuda/words.cu"
#include "../../microbench/matrix/nvidia.cu"

void check(cudaError_t error, char const* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(3);
}

int main(int argc, char** argv) {
  double const flop = argc > 1 ? std::atof(argv[1]) : 0;
  if (flop <= 0) {
    std::fprintf(stderr, "usage: matrix_rates FLOP\n");
    return 2;
  }
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
#if defined(SMALL)
  int const groups = 2, iterations = 4, rounds = 1;
#else
  int const groups = device.multiProcessorCount * 8, iterations = 1 << 14, rounds = 5;
#endif
  constexpr int group = 128;
  std::vector<unsigned> words(static_cast<std::size_t>(groups) * group * 8);
  unsigned state = 1;
  for (auto& word : words) word = state = state * 1664525u + 1013904223u;
  unsigned* in = nullptr;
  Sum* out = nullptr;
  check(cudaMalloc(&in, words.size() * sizeof words[0]), "cudaMalloc");
  check(cudaMalloc(&out, words.size() * sizeof(Sum)), "cudaMalloc");
  check(cudaMemcpy(in, words.data(), words.size() * sizeof words[0], cudaMemcpyHostToDevice), "cudaMemcpy");
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  float best_ms = 1e30f;
  for (int i = 0; i < rounds; ++i) {
    float ms = 0;
    check(cudaEventRecord(begin), "cudaEventRecord");
    matrix_product<<<groups, group>>>(in, out, iterations);
    check(cudaGetLastError(), "the launch");
    check(cudaEventRecord(end), "cudaEventRecord");
    check(cudaEventSynchronize(end), "the kernel");
    check(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
    best_ms = std::min(best_ms, ms);
  }
  double const total = flop * CHAINS * iterations * groups * group;
  std::printf("sm_%d%d,%d,%.0f,%.6g\n", device.major, device.minor, device.multiProcessorCount, total,
              total / (best_ms * 1e-3));
}
