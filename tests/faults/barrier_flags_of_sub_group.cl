// A barrier of a sub-group, without flags.
// launch: -g 64 -l 64 --cl-std CL2.0 -a buf:i32:64:iota -a buf:i32:64:zero
// expect: race, line 16, work-item (0, 0, 0) of work-group (0, 0, 0)
// says: at barrier_flags_of_sub_group.cl:12 has no flags and orders no memory; work-item

__kernel void shift(__global const int* in, __global int* out) {
  __local int s[64];
  int t = get_local_id(0);
  s[t] = in[t];
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#ifndef MENDED
  sub_group_barrier(0);
#else
  sub_group_barrier(CLK_LOCAL_MEM_FENCE);
#endif
  out[t] = s[t ^ 1];
}
