// Shared memory does not outlive its group.
// launch: --grid 2 -l 32 -a buf:i32:64:zero
// expect: uninitialized, line 14, work-item (0, 0, 0) of work-group (1, 0, 0)

__global__ void carry(int* out) {
  __shared__ int s[32];
  int t = threadIdx.x;
#ifdef MENDED
  s[t] = t;
#else
  if (blockIdx.x == 0) s[t] = t;
#endif
  __syncthreads();
  out[blockIdx.x * 32 + t] = s[t];
}
