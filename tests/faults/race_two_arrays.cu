// The double buffer is forgotten.
// launch: --grid 1 -l 64 -a buf:f32:64:random
// expect: race, line 15, work-item (0, 0, 0) of work-group (0, 0, 0)

__global__ void steps(float* a) {
  __shared__ float s[2][64];
  int t = threadIdx.x;
  s[0][t] = a[t];
  s[1][t] = 0;
  __syncthreads();
  for (int k = 0; k < 4; ++k) {
#ifdef MENDED
    s[(k + 1) & 1][t] = 0.5f * s[k & 1][(t + 1) & 63];
#else
    s[0][t] = 0.5f * s[0][(t + 1) & 63];
#endif
    __syncthreads();
  }
  a[t] = s[0][t];
}
