// One element beyond what malloc gave.
// launch: --grid 1 -l 2 -a buf:i32:2:zero
// expect: out_of_bounds, line 13, work-item (0, 0, 0) of work-group (0, 0, 0)

__global__ void fill_heap(int* out) {
#ifdef MENDED
  int n = 4;
#else
  int n = 5;
#endif
  volatile int* p = (volatile int*)malloc(16);
  for (int i = 0; i < n; ++i)
    p[i] = i;
  out[threadIdx.x] = p[3];
  free((void*)p);
}
