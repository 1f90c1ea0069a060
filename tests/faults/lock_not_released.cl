// Who holds the lock keeps it.
// launch: -g 2 -l 2 --max-steps 200000 -a buf:i32:1:zero -a buf:i32:1:zero
// expect: limit, line 6, work-item (1, 0, 0) of work-group (0, 0, 0)

__kernel void add(volatile __global int* lock, __global int* sum) {
  while (atomic_cmpxchg(lock, 0, 1) != 0) {
  }
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  *sum += 1;
  mem_fence(CLK_GLOBAL_MEM_FENCE);
#ifdef MENDED
  atomic_xchg(lock, 0);
#endif
}
