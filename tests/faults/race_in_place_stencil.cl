// A stencil overwrites what its neighbours read.
// launch: -g 64 -l 64 -a buf:f32:64:random
// expect: race, line 15, work-item (0, 0, 0) of work-group (0, 0, 0)

__kernel void smooth(__global float* a) {
  __local float s[66];
  int t = get_local_id(0);
  s[t + 1] = a[t];
  if (t < 2) s[t * 65] = 0.0f;
  barrier(CLK_LOCAL_MEM_FENCE);
  float mean = (s[t] + s[t + 1] + s[t + 2]) / 3.0f;
#ifdef MENDED
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  s[t + 1] = mean;
  a[t] = s[t + 1];
}
