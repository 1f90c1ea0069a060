// A recursion that does not end.
// launch: --grid 1 -l 2 -a buf:i32:2:iota
// expect: stack_overflow, line 13, work-item (0, 0, 0) of work-group (0, 0, 0)

__device__ __noinline__ int sum(int* a, int n) {
#ifdef MENDED
  if (n > 50) return n;
#else
  if (n < -a[0]) return n;
#endif
  int here[8];
  for (int i = 0; i < 8; ++i) here[i] = a[0] + n;
  return sum(here, n + 1) + here[n & 7];
}
__global__ void recurse(int* a) {
  a[threadIdx.x] = sum(a + threadIdx.x, 0);
}
