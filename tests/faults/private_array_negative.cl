// An index below zero into a private array.
// launch: -g 8 -l 8 -a buf:i32:8:iota -a buf:i32:8:zero
// expect: out_of_bounds, line 13, work-item (0, 0, 0) of work-group (0, 0, 0)

__kernel void pick(__global const int* in, __global int* out) {
  int i = get_global_id(0);
  int table[8];
  for (int k = 0; k < 8; ++k) table[k] = in[k] + 1;
  int k = in[i] - 1;
#ifdef MENDED
  if (k < 0) k = 0;
#endif
  out[i] = table[k];
}
