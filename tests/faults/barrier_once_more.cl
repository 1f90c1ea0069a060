// One work-item waits once more than the others.
// launch: -g 64 -l 64 -a buf:i32:64:zero
// expect: divergent_barrier, line 11, work-item (5, 0, 0) of work-group (0, 0, 0)

__kernel void early(__global int* out) {
  __local int s[64];
  int t = get_local_id(0);
  s[t] = t;
#ifndef MENDED
  if (t == 5) {
    barrier(CLK_LOCAL_MEM_FENCE);
    out[63] = s[0];
  }
#endif
  barrier(CLK_LOCAL_MEM_FENCE);
  out[t] = s[63 - t];
}
