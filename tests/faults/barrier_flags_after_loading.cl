// Tiles of global memory are reversed in place: what was loaded before a barrier is overwritten behind it. Flags of local
// memory do, because the values go through it; without flags nothing is ordered.
// launch: -g 128 -l 64 -a buf:i32:128:iota
// expect: race, line 16, work-item (0, 0, 0) of work-group (0, 0, 0)
// says: at barrier_flags_after_loading.cl:14 has no flags and orders no memory; work-item

__kernel void reverse(__global int* data) {
  __local int s[64];
  int t = get_local_id(0), i = get_global_id(0);
  s[t] = data[i];
#ifdef MENDED
  barrier(CLK_LOCAL_MEM_FENCE);
#else
  barrier(0);
#endif
  data[i - t + 63 - t] = s[t];
}
