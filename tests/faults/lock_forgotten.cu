// A sum without the lock that should guard it.
// launch: --grid 4 -l 1 -a buf:i32:1:zero -a buf:i32:1:zero
// expect: race, line 11, work-item (0, 0, 0) of work-group (1, 0, 0)

__global__ void add(int* lock, int* sum) {
#ifdef MENDED
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
#endif
  *sum += 1;
#ifdef MENDED
  __threadfence();
  atomicExch(lock, 0);
#endif
}
