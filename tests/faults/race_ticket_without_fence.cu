// The last group sums up what the others may not have finished.
// launch: --grid 4 -l 32 -a buf:i32:4:zero -a buf:i32:1:zero -a buf:i32:1:zero
// expect: race, line 14, work-item (0, 0, 0) of work-group (3, 0, 0)

__global__ void sum(volatile int* partial, int* ticket, int* out) {
  if (threadIdx.x != 0) return;
  int* plain = (int*)partial;
  plain[blockIdx.x] = blockIdx.x + 1;
#ifdef MENDED
  __threadfence();
#endif
  if (atomicAdd(ticket, 1) != 3) return;
  int all = 0;
  for (int k = 0; k < 4; ++k) all += plain[k];
  out[0] = all;
}
