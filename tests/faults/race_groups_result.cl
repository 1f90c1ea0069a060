// Every group stores its own result in one place.
// launch: -g 64 -l 32 -a buf:i32:1:zero -a buf:i32:2:zero
// expect: race, line 10, work-item (0, 0, 0) of work-group (1, 0, 0)

__kernel void last(__global int* out, __global int* each) {
  if (get_local_id(0) == 0) {
#ifdef MENDED
    each[get_group_id(0)] = (int)get_group_id(0) + 1;
#else
    out[0] = (int)get_group_id(0) + 1;
#endif
  }
}
