// An output that is read before it is written.
// launch: -g 64 -l 32 -a buf:f32:64:random -a buf:f32:64:uninit
// expect: uninitialized, line 10, work-item (0, 0, 0) of work-group (0, 0, 0)

__kernel void add(__global const float* in, __global float* sum) {
  int i = get_global_id(0);
#ifdef MENDED
  sum[i] = in[i];
#else
  sum[i] += in[i];
#endif
}
