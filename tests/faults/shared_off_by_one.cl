// An array one too short.
// launch: -g 64 -l 64 -a buf:i32:64:zero
// expect: out_of_bounds, line 12, work-item (63, 0, 0) of work-group (0, 0, 0)

__kernel void rotate(__global int* out) {
#ifdef MENDED
  __local int s[65];
#else
  __local int s[64];
#endif
  int t = get_local_id(0);
  s[t + 1] = t;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[t] = s[t ? t : 1];
}
