// A recursion that stores behind its array; the twin stores in its own and, through a pointer, in its caller's.
// launch: -g 32 -l 32 -a buf:i32:32:iota -a buf:i32:32:zero
// expect: out_of_bounds, line 13, work-item (0, 0, 0) of work-group (0, 0, 0)

extern "C" __device__ __noinline__ int down(int const* a, int n, int* callers) {
  int here[8];
  for (int i = 0; i < 8; ++i) here[i] = n + i;
  callers[n & 7] += n;
  int const i = threadIdx.x & 7;
#ifdef MENDED
  if (n == 0) here[(a[i] - i) & 7] = 1;
#else
  if (n == 0) here[a[i] - i + 4096] = 1;
#endif
  if (n == 0) return here[i];
  int const below = down(a, n - 1, here);
  return below + here[i];
}
extern "C" __global__ void beyond_frames(int const* a, int* out) {
  int mine[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  out[threadIdx.x] = down(a, 4, mine) + mine[4];
}
