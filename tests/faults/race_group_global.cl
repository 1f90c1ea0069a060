// Global memory needs a barrier as well.
// launch: -g 64 -l 64 -a buf:i32:64:iota -a buf:i32:64:zero
// expect: race, line 11, work-item (0, 0, 0) of work-group (0, 0, 0)

__kernel void reverse(__global int* a, __global int* out) {
  int t = get_local_id(0);
  a[t] = 2 * t;
#ifdef MENDED
  barrier(CLK_GLOBAL_MEM_FENCE);
#endif
  out[t] = a[63 - t];
}
