// Memory is given back twice.
// launch: --grid 1 -l 4 -a buf:i32:4:zero
// expect: invalid_free, line 11, work-item (0, 0, 0) of work-group (0, 0, 0)

__global__ void twice(int* out) {
  int* p = (int*)malloc(16);
  p[0] = threadIdx.x;
  out[threadIdx.x] = *(volatile int*)p;
  free(p);
#ifndef MENDED
  free(p);
#endif
}
