// One work-item too many adds.
// launch: -g 64 -l 64 -a buf:i32:64:iota -a buf:i32:1:zero
// expect: race, line 17, work-item (32, 0, 0) of work-group (0, 0, 0)

__kernel void sum(__global const int* in, __global int* out) {
  __local int s[128];
  int t = get_local_id(0);
  s[t] = in[t];
  s[t + 64] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = 32; k > 0; k >>= 1) {
#ifdef MENDED
    if (t < k)
#else
    if (t <= k)
#endif
      s[t] += s[t + k];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) out[0] = s[0];
}
