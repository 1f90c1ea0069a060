// OpenCL 2.0's name of the barrier, with a scope.
// launch: -g 64 -l 64 --cl-std CL2.0 -a buf:i32:64:iota -a buf:i32:64:zero
// expect: race, line 17, work-item (0, 0, 0) of work-group (0, 0, 0)
// says: at barrier_flags_of_work_group_barrier.cl:13 has no flags and orders no memory; work-item

__kernel void shift(__global const int* in, __global int* out) {
  __local int s[64];
  int t = get_local_id(0);
  s[t] = in[t];
  work_group_barrier(CLK_LOCAL_MEM_FENCE);
  s[t] += 1;
#ifndef MENDED
  work_group_barrier(0, memory_scope_work_group);
#else
  work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_group);
#endif
  out[t] = s[(t + 1) % 64];
}
