// A barrier of the warp where the group must wait.
// launch: --grid 1 -l 64 -a buf:i32:64:iota -a buf:i32:64:zero
// expect: race, line 14, work-item (0, 0, 0) of work-group (0, 0, 0)

__global__ void exchange(const int* in, int* out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
#ifdef MENDED
  __syncthreads();
#else
  __syncwarp();
#endif
  out[t] = s[63 - t];
}
