// The edge of a tile is neither loaded nor set to zero.
// launch: -g 32 -l 32 -a buf:f32:30:random -a buf:f32:32:zero
// expect: uninitialized, line 13, work-item (30, 0, 0) of work-group (0, 0, 0)

__kernel void tile(__global const float* in, __global float* out) {
  __local float s[32];
  int t = get_local_id(0);
  if (t < 30) s[t] = in[t];
#ifdef MENDED
  else s[t] = 0.0f;
#endif
  barrier(CLK_LOCAL_MEM_FENCE);
  out[t] = s[t] * 2.0f;
}
