// A tile without room for its halo.
// launch: --grid 2 -l 64 -a buf:f32:132:random -a buf:f32:128:zero
// expect: out_of_bounds, line 15, work-item (62, 0, 0) of work-group (0, 0, 0)

__global__ void blur(const float* in, float* out) {
#ifdef MENDED
  __shared__ float s[66];
  if (threadIdx.x < 2) s[64 + threadIdx.x] = in[blockIdx.x * 64 + 64 + threadIdx.x];
#else
  __shared__ float s[64];
#endif
  int t = threadIdx.x, first = blockIdx.x * 64;
  s[t] = in[first + t];
  __syncthreads();
  out[first + t] = s[t + 2];
}
