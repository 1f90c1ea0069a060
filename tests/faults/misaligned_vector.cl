// A vector of four at an element that is not a multiple of four.
// launch: -g 8 -l 8 -a buf:f32:64:random -a buf:f32:32:zero
// expect: misaligned, line 10, work-item (1, 0, 0) of work-group (0, 0, 0)

__kernel void window(__global const float* in, __global float4* out) {
  int i = get_global_id(0);
#ifdef MENDED
  out[i] = vload4(0, in + i);
#else
  out[i] = *(__global const float4*)(in + i);
#endif
}
