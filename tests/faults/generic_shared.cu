// A generic pointer that leaves its buffer for some lanes.
// launch: --grid 1 -l 32 -a buf:i32:32:zero
// expect: out_of_bounds, line 6, work-item (16, 0, 0) of work-group (0, 0, 0)

__device__ __noinline__ void put(int* to, int value) {
  *to = value;
}
__global__ void scatter(int* out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = 0;
  __syncthreads();
#ifdef MENDED
  put(t & 1 ? &s[t] : out + t, t);
#else
  put(t & 1 ? &s[t] : out + 2 * t, t);
#endif
  __syncthreads();
  if (t & 1) out[t] = s[t];
}
