// The barrier's flags name local memory, and the exchange is through global memory. One work-item's own values need none.
// launch: -g 256 -l 64 -a buf:f32:256:random -a buf:f32:256:zero
// expect: race, line 20, work-item (0, 0, 0) of work-group (0, 0, 0)
// says: the barrier at barrier_flags_of_local.cl:14 has no CLK_GLOBAL_MEM_FENCE and orders local memory only

__kernel void rotate_twice(__global float* a, __global float* b) {
  __local float s[64];
  int t = get_local_id(0), i = get_global_id(0), first = i - t;
  s[t] = a[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  b[i] = s[(t + 1) % 64];
  b[i] += s[(t + 2) % 64];
#ifndef MENDED
  barrier(CLK_LOCAL_MEM_FENCE);
#else
  barrier(CLK_GLOBAL_MEM_FENCE);
#endif
  // Read once more: of the barrier that orders local memory.
  float own = s[t];
  a[i] = own + b[first + (t + 1) % 64];
}
