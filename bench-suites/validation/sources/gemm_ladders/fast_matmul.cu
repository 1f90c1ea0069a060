// The kernel of fast.cu that was measured for products, the last of its ladder, as its main function launches it once:
// fast_matmul N. The ladder's file makes the tensor maps.
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <vector>

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <cudaTypedefs.h>
#include <cuda/barrier>

using bf16 = __nv_bfloat16;
#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))
static void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}
#define cudaCheck(error) check(error)

#include "fast.cu/examples/matmul/matmul_12.cuh"

int main(int argc, char** argv) {
  int const n = argc > 1 ? std::atoi(argv[1]) : 0;
  bf16 *a, *b, *c;
  int* schedule;
  for (auto** const matrix : {&a, &b, &c}) check(cudaMalloc(matrix, sizeof(bf16) * n * n));
  check(cudaMalloc(&schedule, sizeof(int) * 128 * 128));
  runKernel12(n, n, n, a, b, c, schedule);
  check(cudaDeviceSynchronize());
}
