// The halo is loaded after the barrier.
// launch: -g 64 -l 64 -a buf:f32:66:random -a buf:f32:64:zero
// expect: race, line 16, work-item (63, 0, 0) of work-group (0, 0, 0)

__kernel void blur(__global const float* in, __global float* out) {
  __local float s[66];
  int t = get_local_id(0);
  s[t] = in[t];
#ifndef MENDED
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  if (t < 2) s[64 + t] = in[64 + t];
#ifdef MENDED
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  out[t] = (s[t] + s[t + 1]) * 0.5f;
}
