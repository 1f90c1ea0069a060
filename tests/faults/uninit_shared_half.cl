// Half of a tile is filled.
// launch: -g 64 -l 64 -a buf:i32:64:zero
// expect: uninitialized, line 14, work-item (32, 0, 0) of work-group (0, 0, 0)

__kernel void half_filled(__global int* out) {
  __local int s[64];
  int t = get_local_id(0);
#ifdef MENDED
  s[t] = t;
#else
  if (t < 32) s[t] = t;
#endif
  barrier(CLK_LOCAL_MEM_FENCE);
  out[t] = s[t];
}
