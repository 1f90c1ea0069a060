// An atomic on a counter without a beginning.
// launch: -g 32 -l 32 -a buf:i32:1:zero
// expect: uninitialized, line 11, work-item (0, 0, 0) of work-group (0, 0, 0)

__kernel void count(__global int* out) {
  __local int n;
#ifdef MENDED
  if (get_local_id(0) == 0) n = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  atomic_inc(&n);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) out[0] = n;
}
