// Odd and even work-items wait at different barriers.
// launch: -g 64 -l 64 -a buf:i32:64:zero
// expect: divergent_barrier, line 17, work-item (0, 0, 0) of work-group (0, 0, 0)

__kernel void split(__global int* out) {
  int t = get_local_id(0);
  __local int s[64];
  s[t] = t;
#ifdef MENDED
  barrier(CLK_LOCAL_MEM_FENCE);
  out[t] = t & 1 ? s[t - 1] : s[t + 1] + 1;
#else
  if (t & 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    out[t] = s[t - 1];
  } else {
    barrier(CLK_LOCAL_MEM_FENCE);
    out[t] = s[t + 1] + 1;
  }
#endif
}
