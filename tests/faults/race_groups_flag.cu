// One group reads what another writes.
// launch: --grid 2 -l 32 -a buf:i32:33:zero -a buf:i32:32:zero
// expect: race, line 13, work-item (0, 0, 0) of work-group (1, 0, 0)

__global__ void pass(int* data, int* out) {
  int t = threadIdx.x;
#ifdef MENDED
  if (blockIdx.x == 0) data[t] = t;
#else
  if (blockIdx.x == 0)
    data[t] = t;
  else
    out[t] = data[t];
#endif
}
