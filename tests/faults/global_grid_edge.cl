// The grid is larger than the buffer and the index is not checked.
// launch: -g 128 -l 32 -a buf:f32:100:random -a i32:100
// expect: out_of_bounds, line 10, work-item (4, 0, 0) of work-group (3, 0, 0)

__kernel void twice(__global float* a, int n) {
  int i = get_global_id(0);
#ifdef MENDED
  if (i < n)
#endif
    a[i] *= 2.0f;
}
