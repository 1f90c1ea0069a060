// Eight private elements, 32 are asked for.
// launch: -g 32 -l 32 -a buf:i32:32:iota -a buf:i32:32:zero
// expect: out_of_bounds, line 13, work-item (8, 0, 0) of work-group (0, 0, 0)

__kernel void pick(__global const int* in, __global int* out) {
  int i = get_global_id(0);
  int table[8];
  for (int k = 0; k < 8; ++k) table[k] = in[k] * k;
  int k = in[i];
#ifdef MENDED
  k &= 7;
#endif
  out[i] = table[k];
}
