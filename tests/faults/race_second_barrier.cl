// A tile is filled again while others still read it.
// launch: -g 64 -l 64 -a buf:f32:256:random -a buf:f32:64:zero
// expect: race, line 10, work-item (0, 0, 0) of work-group (0, 0, 0)

__kernel void tiles(__global const float* in, __global float* out) {
  __local float s[64];
  int t = get_local_id(0);
  float sum = 0.0f;
  for (int k = 0; k < 4; ++k) {
    s[t] = in[64 * k + t];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < 64; ++j) sum += s[j];
#ifdef MENDED
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
  }
  out[t] = sum;
}
