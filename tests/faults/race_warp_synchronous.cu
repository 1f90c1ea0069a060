// Lanes of a warp are not in step since Volta.
// launch: --grid 1 -l 32 -a buf:f32:32:random -a buf:f32:1:zero
// expect: race, line 16, work-item (1, 0, 0) of work-group (0, 0, 0)

__global__ void sum(const float* in, float* out) {
  __shared__ float s[48];
  int t = threadIdx.x;
  s[t] = in[t];
  if (t < 16) s[t + 32] = 0;
  __syncthreads();
  for (int k = 16; k > 0; k /= 2) {
    float other = s[t + k];
#ifdef MENDED
    __syncwarp();
#endif
    s[t] += other;
#ifdef MENDED
    __syncwarp();
#endif
  }
  if (t == 0) out[0] = s[0];
}
