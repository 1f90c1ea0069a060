// Malloc does not clear what it gives.
// launch: --grid 1 -l 2 -a buf:i32:2:zero
// expect: uninitialized, line 11, work-item (0, 0, 0) of work-group (0, 0, 0)

__global__ void guess(int* out) {
  volatile int* p = (volatile int*)malloc(16);
#ifdef MENDED
  p[1] = 2;
#endif
  p[0] = 1;
  out[threadIdx.x] = p[1];
  free((void*)p);
}
