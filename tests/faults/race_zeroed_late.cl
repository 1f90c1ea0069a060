// Bins are set to zero while others already count.
// launch: -g 64 -l 64 -a buf:i32:64:iota -a buf:i32:16:zero
// expect: race, line 12, work-item (16, 0, 0) of work-group (0, 0, 0)

__kernel void histogram(__global const int* in, __global int* out) {
  __local int bins[16];
  int t = get_local_id(0);
  if (t < 16) bins[t] = 0;
#ifdef MENDED
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  atomic_inc(&bins[in[t] & 15]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t < 16) out[t] = bins[t];
}
