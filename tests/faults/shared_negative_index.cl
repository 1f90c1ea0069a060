// Nothing is left of the first.
// launch: -g 32 -l 32 -a buf:i32:32:zero
// expect: out_of_bounds, line 13, work-item (0, 0, 0) of work-group (0, 0, 0)

__kernel void left(__global int* out) {
  __local int s[32];
  int t = get_local_id(0);
  s[t] = t;
  barrier(CLK_LOCAL_MEM_FENCE);
#ifdef MENDED
  out[t] = s[t ? t - 1 : 31];
#else
  out[t] = s[t - 1];
#endif
}
