// The kernel asserts what does not hold.
// launch: --grid 2 -l 32 -a buf:i32:64:iota
// expect: assertion, line 11, work-item (8, 0, 0) of work-group (1, 0, 0)

#include <assert.h>
__global__ void increment(int* a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef MENDED
  assert(a[i] != 64);
#else
  assert(a[i] != 40);
#endif
  a[i] += 1;
}
