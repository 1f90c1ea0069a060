// Records of six bytes in shared memory.
// launch: -g 8 -l 8 -a buf:i32:8:zero
// expect: misaligned, line 13, work-item (1, 0, 0) of work-group (0, 0, 0)

__kernel void pack(__global int* out) {
  __local char s[64] __attribute__((aligned(16)));
  int t = get_local_id(0);
#ifdef MENDED
  int bytes = 4;
#else
  int bytes = 6;
#endif
  *(__local int*)(s + bytes * t) = t;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[t] = *(__local int*)(s + bytes * (7 - t));
}
