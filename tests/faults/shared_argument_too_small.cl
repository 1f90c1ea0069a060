// Room for int, used as long.
// launch: -g 64 -l 64 -a buf:i32:64:zero -a local:256
// expect: out_of_bounds, line 12, work-item (32, 0, 0) of work-group (0, 0, 0)

__kernel void stage(__global int* out, __local int* s) {
  int t = get_local_id(0);
#ifdef MENDED
  s[t] = t;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[t] = s[t];
#else
  ((__local long*)s)[t] = t;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[t] = (int)((__local long*)s)[t];
#endif
}
