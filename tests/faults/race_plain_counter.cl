// A counter without an atomic.
// launch: -g 32 -l 32 -a buf:i32:1:zero
// expect: race, line 13, work-item (0, 0, 0) of work-group (0, 0, 0)

__kernel void count(__global int* out) {
  __local int n;
  int t = get_local_id(0);
  if (t == 0) n = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
#ifdef MENDED
  atomic_add(&n, t);
#else
  n += t;
#endif
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t == 0) out[0] = n;
}
