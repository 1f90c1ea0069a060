// An accumulator in shared memory that is never set to zero.
// launch: -g 32 -l 32 -a buf:i32:32:iota -a buf:i32:32:zero
// expect: uninitialized, line 11, work-item (0, 0, 0) of work-group (0, 0, 0)

__kernel void accumulate(__global const int* in, __global int* out) {
  __local int s[32];
  int t = get_local_id(0);
#ifdef MENDED
  s[t] = 0;
#endif
  s[t] += in[t];
  out[t] = s[t];
}
