// Two work-items store to one byte; neighbouring bytes do no harm.
// launch: -g 64 -l 64 -a buf:u8:64:iota -a buf:u8:64:zero
// expect: race, line 12, work-item (1, 0, 0) of work-group (0, 0, 0)

__kernel void pairs(__global const uchar* in, __global uchar* out) {
  __local uchar s[64];
  int t = get_local_id(0);
#ifdef MENDED
  s[t] = in[t];
  out[t] = s[t];
#else
  s[t / 2] = in[t];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[t] = s[t / 2];
#endif
}
