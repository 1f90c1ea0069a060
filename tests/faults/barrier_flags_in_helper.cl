// Flags that reach the barrier through two functions, of which one is compiled by itself.
// launch: -g 64 -l 64 -a buf:i32:64:iota -a buf:i32:64:zero
// expect: race, line 20, work-item (0, 0, 0) of work-group (0, 0, 0)
// says: at barrier_flags_in_helper.cl:6 has no flags and orders no memory; work-item

void meet(cl_mem_fence_flags flags) { barrier(flags); }
__attribute__((noinline)) void between(int local_too) { meet(local_too ? CLK_LOCAL_MEM_FENCE : 0); }

__kernel void shift(__global const int* in, __global int* out) {
  __local int s[64];
  int t = get_local_id(0);
  s[t] = in[t];
  meet(CLK_LOCAL_MEM_FENCE);
  out[t] = s[(t + 1) % 64];
#ifndef MENDED
  between(0);
#else
  between(1);
#endif
  s[t] += out[t];
}
