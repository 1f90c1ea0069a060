// Past the end of a table in constant memory.
// launch: -g 16 -l 16 -a buf:i32:16:iota -a buf:i32:16:zero
// expect: out_of_bounds, line 11, work-item (8, 0, 0) of work-group (0, 0, 0)

__constant int table[8] = {1, 2, 3, 5, 7, 11, 13, 17};
__kernel void prime(__global const int* in, __global int* out) {
  int i = get_global_id(0);
#ifdef MENDED
  out[i] = table[in[i] & 7];
#else
  out[i] = table[in[i]];
#endif
}
