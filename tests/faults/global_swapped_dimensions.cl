// Rows and columns of a rectangle confused.
// launch: -g 32,8 -l 32,1 -a buf:f32:256:random -a buf:f32:256:zero -a i32:32 -a i32:8
// expect: out_of_bounds, line 10, work-item (8, 0, 0) of work-group (0, 0, 0)

__kernel void copy(__global const float* in, __global float* out, int width, int height) {
  int x = get_global_id(0), y = get_global_id(1);
#ifdef MENDED
  out[x * height + y] = in[y * width + x];
#else
  out[x * width + y] = in[y * width + x];
#endif
}
