// The first work-item looks before the buffer.
// launch: -g 64 -l 32 -a buf:f32:64:random -a buf:f32:64:zero
// expect: out_of_bounds, line 10, work-item (0, 0, 0) of work-group (0, 0, 0)

__kernel void difference(__global const float* in, __global float* out) {
  int i = get_global_id(0);
#ifdef MENDED
  if (i == 0) return;
#endif
  out[i] = in[i] - in[i - 1];
}
