// An atomic beyond the last bin.
// launch: -g 64 -l 64 -a buf:i32:64:iota -a buf:i32:63:zero
// expect: out_of_bounds, line 10, work-item (63, 0, 0) of work-group (0, 0, 0)

__kernel void histogram(__global const int* in, __global int* bins) {
  int v = in[get_global_id(0)];
#ifdef MENDED
  if (v > 62) v = 62;
#endif
  atomic_add(&bins[v], 1);
}
