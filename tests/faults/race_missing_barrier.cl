// No barrier between filling a tile and reading it.
// launch: -g 128 -l 128 -a buf:f32:128:random -a buf:f32:128:zero
// expect: race, line 12, work-item (0, 0, 0) of work-group (0, 0, 0)

__kernel void reverse(__global const float* in, __global float* out) {
  __local float s[128];
  int t = get_local_id(0);
  s[t] = in[t];
#ifdef MENDED
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  out[t] = s[127 - t];
}
