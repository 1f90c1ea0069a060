// The last work-item stores one element too far.
// launch: -g 64 -l 32 -a buf:i32:64:iota -a buf:i32:64:zero
// expect: out_of_bounds, line 10, work-item (31, 0, 0) of work-group (1, 0, 0)

__kernel void shift(__global const int* in, __global int* out) {
  int i = get_global_id(0);
#ifdef MENDED
  out[i] = in[i];
#else
  out[i + 1] = in[i];
#endif
}
