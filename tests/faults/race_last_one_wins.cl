// All store different values to one place.
// launch: -g 32 -l 32 -a buf:i32:1:zero
// expect: race, line 11, work-item (1, 0, 0) of work-group (0, 0, 0)

__kernel void elect(__global int* out) {
  __local int chosen;
  int t = get_local_id(0);
#ifdef MENDED
  if (t == 31)
#endif
    chosen = t;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t == 0) out[0] = chosen;
}
