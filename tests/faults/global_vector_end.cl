// The last vector of four has two elements only.
// launch: -g 8 -l 8 -a buf:f32:30:random -a buf:f32:32:zero
// expect: out_of_bounds, line 10, work-item (7, 0, 0) of work-group (0, 0, 0)

__kernel void scale4(__global const float4* in, __global float4* out) {
  int i = get_global_id(0);
#ifdef MENDED
  if (i == 7) return;
#endif
  out[i] = in[i] * 2.0f;
}
