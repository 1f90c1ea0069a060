// A reduction with no barrier in its loop.
// launch: -g 256 -l 256 -a buf:f32:256:random -a buf:f32:1:zero
// expect: race, line 11, work-item (0, 0, 0) of work-group (0, 0, 0)

__kernel void sum(__global const float* in, __global float* out) {
  __local float s[256];
  int t = get_local_id(0);
  s[t] = in[t];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = 128; k > 0; k >>= 1) {
    if (t < k) s[t] += s[t + k];
#ifdef MENDED
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
  }
  if (t == 0) out[0] = s[0];
}
