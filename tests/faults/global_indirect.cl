// An index that is data.
// launch: -g 32 -l 32 -a buf:i32:32:iota -a buf:f32:16:random -a buf:f32:32:zero
// expect: out_of_bounds, line 11, work-item (16, 0, 0) of work-group (0, 0, 0)

__kernel void gather(__global const int* index, __global const float* table, __global float* out) {
  int i = get_global_id(0);
  int k = index[i];
#ifdef MENDED
  k &= 15;
#endif
  out[i] = table[k];
}
