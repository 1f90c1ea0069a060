// One byte among others.
// launch: -g 16 -l 16 -a buf:u8:16:zero
// expect: uninitialized, line 14, work-item (5, 0, 0) of work-group (0, 0, 0)

__kernel void spell(__global uchar* out) {
  __local uchar s[16];
  int t = get_local_id(0);
#ifdef MENDED
  s[t] = (uchar)t;
#else
  if (t != 5) s[t] = (uchar)t;
#endif
  barrier(CLK_LOCAL_MEM_FENCE);
  out[t] = s[t];
}
