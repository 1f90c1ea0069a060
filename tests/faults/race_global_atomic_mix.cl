// A counter is read beside its atomics.
// launch: -g 64 -l 32 -a buf:i32:1:zero -a buf:i32:64:zero
// expect: race, line 10, work-item (0, 0, 0) of work-group (0, 0, 0)

__kernel void tickets(__global int* next, __global int* out) {
#ifdef MENDED
  out[get_global_id(0)] = atomic_inc(next);
#else
  atomic_inc(next);
  out[get_global_id(0)] = next[0];
#endif
}
