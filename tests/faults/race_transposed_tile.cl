// A transposition with no barrier.
// launch: -g 16,16 -l 16,16 -a buf:f32:256:random -a buf:f32:256:zero
// expect: race, line 12, work-item (1, 0, 0) of work-group (0, 0, 0)

__kernel void transpose(__global const float* in, __global float* out) {
  __local float s[16][17];
  int x = get_local_id(0), y = get_local_id(1);
  s[y][x] = in[16 * y + x];
#ifdef MENDED
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  out[16 * y + x] = s[x][y];
}
