// A period of zero.
// launch: -g 32 -l 32 -a buf:u32:32:iota -a buf:u32:32:zero -a u32:0
// expect: division_by_zero, line 10, work-item (0, 0, 0) of work-group (0, 0, 0)

__kernel void wrap(__global const uint* in, __global uint* out, uint period) {
  int t = get_global_id(0);
#ifdef MENDED
  period += 1;
#endif
  out[t] = in[t] % period;
}
