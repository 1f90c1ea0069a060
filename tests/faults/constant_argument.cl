// A constant buffer one too short.
// launch: -g 16 -l 16 -a buf:f32:15:random -a buf:f32:16:zero
// expect: out_of_bounds, line 10, work-item (15, 0, 0) of work-group (0, 0, 0)

__kernel void weigh(__constant float* weights, __global float* out) {
  int i = get_global_id(0);
#ifdef MENDED
  if (i == 15) return;
#endif
  out[i] = weights[i];
}
