// A stride of two needs twice the buffer.
// launch: -g 64 -l 32 -a buf:i32:64:iota -a buf:i32:64:zero
// expect: out_of_bounds, line 10, work-item (0, 0, 0) of work-group (1, 0, 0)

__kernel void every_other(__global const int* in, __global int* out) {
  int i = get_global_id(0);
#ifdef MENDED
  if (2 * i >= 64) return;
#endif
  out[i] = in[2 * i];
}
