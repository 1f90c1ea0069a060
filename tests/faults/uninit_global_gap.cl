// Written with a stride, read without.
// launch: -g 64 -l 64 -a buf:i32:128:uninit -a buf:i32:64:zero
// expect: uninitialized, line 13, work-item (1, 0, 0) of work-group (0, 0, 0)

__kernel void through(__global int* temporary, __global int* out) {
  int i = get_global_id(0);
#ifdef MENDED
  temporary[i] = i;
#else
  temporary[2 * i] = i;
#endif
  barrier(CLK_GLOBAL_MEM_FENCE);
  out[i] = temporary[i];
}
