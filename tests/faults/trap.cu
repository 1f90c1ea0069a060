// The kernel stops itself.
// launch: --grid 1 -l 64 -a buf:i32:64:iota
// expect: trap, line 10, work-item (40, 0, 0) of work-group (0, 0, 0)

__global__ void refuse(int* a) {
  int t = threadIdx.x;
#ifdef MENDED
  if (a[t] == 64) asm volatile("trap;");
#else
  if (a[t] == 40) asm volatile("trap;");
#endif
  a[t] += 1;
}
