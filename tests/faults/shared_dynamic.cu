// The launch gives one element too few.
// launch: --grid 1 -l 64 --shared 252 -a buf:i32:64:zero
// expect: out_of_bounds, line 11, work-item (63, 0, 0) of work-group (0, 0, 0)

extern __shared__ int s[];
__global__ void stage(int* out) {
  int t = threadIdx.x;
#ifdef MENDED
  if (t == 63) return;
#endif
  s[t] = t;
  out[t] = s[t];
}
