// Memory is read after it was given back.
// launch: --grid 1 -l 4 -a buf:i32:4:zero
// expect: use_after_free, line 13, work-item (0, 0, 0) of work-group (0, 0, 0)

__global__ void borrow(int* out) {
  int* p = (int*)malloc(16);
  p[0] = threadIdx.x;
#ifdef MENDED
  out[threadIdx.x] = p[0];
  free(p);
#else
  free(p);
  out[threadIdx.x] = *(volatile int*)p;
#endif
}
