// Under a condition that lets one work-item too many through.
// launch: -g 32 -l 32 -a buf:u8:32:iota -a buf:u8:32:zero
// expect: division_by_zero, line 12, work-item (16, 0, 0) of work-group (0, 0, 0)

__kernel void divide(__global const uchar* in, __global uchar* out) {
  int t = get_global_id(0);
#ifdef MENDED
  if (t > 16)
#else
  if (t >= 16)
#endif
    out[t] = (uchar)(200 / (in[t] - 16));
}
