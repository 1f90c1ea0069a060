// Flags that only the launch knows: CLK_GLOBAL_MEM_FENCE is 2.
// launch: -g 64 -l 64 -a buf:i32:64:iota -a buf:i32:64:zero -a i32:2
// expect: race, line 15, work-item (0, 0, 0) of work-group (0, 0, 0)
// says: at barrier_flags_at_run_time.cl:11 has no CLK_LOCAL_MEM_FENCE and orders global memory only

__kernel void shift(__global const int* in, __global int* out, int flags) {
  __local int s[64];
  int t = get_local_id(0);
  s[t] = in[t];
#ifndef MENDED
  barrier(flags);
#else
  barrier(flags | CLK_LOCAL_MEM_FENCE);
#endif
  out[t] = s[(t + 1) % 64];
}
