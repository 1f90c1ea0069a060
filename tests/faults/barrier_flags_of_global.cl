// The barrier's flags name global memory, and the exchange is through local memory.
// launch: -g 64 -l 32 -a buf:f32:64:random -a buf:f32:64:zero
// expect: race, line 15, work-item (0, 0, 0) of work-group (0, 0, 0)
// says: the barrier at barrier_flags_of_global.cl:11 has no CLK_LOCAL_MEM_FENCE and orders global memory only

__kernel void reverse(__global const float* in, __global float* out) {
  __local float s[32];
  int t = get_local_id(0);
  s[t] = in[get_global_id(0)];
#ifndef MENDED
  barrier(CLK_GLOBAL_MEM_FENCE);
#else
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#endif
  out[get_global_id(0)] = s[31 - t];
}
