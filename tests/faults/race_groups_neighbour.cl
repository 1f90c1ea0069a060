// The neighbour belongs to another group.
// launch: -g 128 -l 32 -a buf:f32:128:random
// expect: race, line 14, work-item (0, 0, 0) of work-group (1, 0, 0)

__kernel void smooth(__global float* a) {
  int i = get_global_id(0);
#ifdef MENDED
  int right = i % 32 < 31 ? i + 1 : i;
#else
  int right = i < 127 ? i + 1 : i;
#endif
  float mean = 0.5f * (a[i] + a[right]);
  barrier(CLK_GLOBAL_MEM_FENCE);
  a[i] = mean;
}
