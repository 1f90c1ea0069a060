// A private array filled in part.
// launch: -g 16 -l 16 -a buf:i32:16:iota -a buf:i32:16:zero
// expect: uninitialized, line 13, work-item (9, 0, 0) of work-group (0, 0, 0)

__kernel void lookup(__global const int* in, __global int* out) {
  int i = get_global_id(0);
  int table[16];
#ifdef MENDED
  for (int k = 0; k < 16; ++k) table[in[k]] = in[k];
#else
  for (int k = 0; k < 9; ++k) table[in[k]] = in[k];
#endif
  out[i] = table[in[i]];
}
