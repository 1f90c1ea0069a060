// 64-bit integers.
// launch: --grid 2 -l 32 -a buf:i64:64:iota -a buf:i64:64:zero
// expect: division_by_zero, line 10, work-item (8, 0, 0) of work-group (1, 0, 0)

__global__ void divide(const long long* in, long long* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef MENDED
  out[i] = in[i] / (in[i] - 64);
#else
  out[i] = in[i] / (in[i] - 40);
#endif
}
