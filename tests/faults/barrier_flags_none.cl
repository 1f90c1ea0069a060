// A barrier that orders no memory, between filling a tile and reading it.
// launch: -g 128 -l 128 -a buf:f32:128:random -a buf:f32:128:zero
// expect: race, line 15, work-item (0, 0, 0) of work-group (0, 0, 0)
// says: the barrier at barrier_flags_none.cl:11 has no flags and orders no memory; work-item

__kernel void reverse(__global const float* in, __global float* out) {
  __local float s[128];
  int t = get_local_id(0);
  s[t] = in[t];
#ifndef MENDED
  barrier(0);
#else
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  out[t] = s[127 - t];
}
