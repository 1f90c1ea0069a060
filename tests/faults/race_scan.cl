// A scan in one array without a barrier between reading and writing.
// launch: -g 64 -l 64 -a buf:i32:64:iota
// expect: race, line 15, work-item (0, 0, 0) of work-group (0, 0, 0)

__kernel void scan(__global int* a) {
  __local int s[64];
  int t = get_local_id(0);
  s[t] = a[t];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = 1; k < 64; k *= 2) {
    int left = t >= k ? s[t - k] : 0;
#ifdef MENDED
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    s[t] += left;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  a[t] = s[t];
}
