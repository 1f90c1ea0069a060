// A tile is filled again behind a barrier that does not order the reads before it, in a loop that is unrolled.
// launch: -g 64 -l 64 -a buf:f32:256:random -a buf:f32:64:zero
// expect: race, line 10, work-item (0, 0, 0) of work-group (0, 0, 0)
// says: at barrier_flags_before_overwriting.cl:14 has no flags and orders no memory; work-item

__kernel void tiles(__global const float* in, __global float* out) {
  __local float s[64];
  int t = get_local_id(0);
  for (int k = 0; k < 4; ++k) {
    s[t] = in[64 * k + t];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < 64; ++j) out[t] += s[j];
#ifndef MENDED
    barrier(0);
#else
    // A fence of each work-item's own, then a barrier that orders nothing itself.
    mem_fence(CLK_LOCAL_MEM_FENCE);
    barrier(0);
#endif
  }
}
