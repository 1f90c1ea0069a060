// The first work-item sets what all read.
// launch: -g 96 -l 96 -a buf:i32:1:iota -a buf:i32:96:zero
// expect: race, line 10, work-item (0, 0, 0) of work-group (0, 0, 0)

__kernel void broadcast(__global const int* in, __global int* out) {
  __local int value;
  int t = get_local_id(0);
  if (t == 0) value = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t == 0) value = in[0];
#ifdef MENDED
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  out[t] = value;
}
