// Two programs: the PTX for compute_90 of the kernel here gets an operand in a form that does not exist (nvcc would refuse
// it: the test writes it over the one below); readable.cu is counted everywhere.
#include <cstdio>

__global__ void odd(int* x) {
#if __CUDA_ARCH__ >= 900
  asm volatile("{ .reg .u32 unused; mov.u32 unused, %clock; }");
#endif
  x[threadIdx.x] += 1;
}

void run_readable(int* x);  // readable.cu

int main() {
  int *x, got[32];
  if (cudaMalloc(&x, sizeof got) != cudaSuccess) {
    std::puts("no device");
    return 3;
  }
  cudaMemset(x, 0, sizeof got);
  odd<<<1, 32>>>(x);
  run_readable(x);
  odd<<<1, 32>>>(x);
  cudaMemcpy(got, x, sizeof got, cudaMemcpyDeviceToHost);
  bool right = true;
  for (int i = 0; i < 32; ++i) right &= got[i] == 12;
  std::puts(right ? "right" : "wrong");
  return right ? 7 : 5;
}
