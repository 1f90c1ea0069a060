// A divisor that is zero once.
// launch: -g 32 -l 32 -a buf:i32:32:iota -a buf:i32:32:zero
// expect: division_by_zero, line 11, work-item (7, 0, 0) of work-group (0, 0, 0)

__kernel void divide(__global const int* in, __global int* out) {
  int t = get_global_id(0);
  int divisor = in[t] - 7;
#ifdef MENDED
  if (divisor == 0) divisor = 1;
#endif
  out[t] = 1000 / divisor;
}
