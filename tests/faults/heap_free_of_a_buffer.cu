// Memory is given back that malloc never gave.
// launch: --grid 1 -l 1 -a buf:i32:4:zero
// expect: invalid_free, line 12, work-item (0, 0, 0) of work-group (0, 0, 0)

__global__ void give_away(int* out) {
  int* p = (int*)malloc(16);
  *(volatile int*)p = 1;
  out[0] = *(volatile int*)p;
#ifdef MENDED
  free(p);
#else
  free(out);
#endif
}
