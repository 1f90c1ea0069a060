// Work-items leave a loop with a barrier at different times.
// launch: -g 32 -l 32 -a buf:i32:32:zero
// expect: divergent_barrier, line 15, work-item (1, 0, 0) of work-group (0, 0, 0)

__kernel void loop(__global int* out) {
  int t = get_local_id(0);
  __local int s[32];
  s[t] = 0;
#ifdef MENDED
  for (int k = 0; k < 32; ++k) {
#else
  for (int k = 0; k <= t; ++k) {
#endif
    s[t] += k;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  s[t] += 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[t] = s[31 - t];
}
