// One step of smoothing on n x n: next = 0.2 (now and its four neighbours), then now = next; the border stays.
//
// One work-item per element; groups of 32 x 8. The copy is a launch of its own: the step still reads its neighbours.
__kernel void jacobi2d_step(__global const float* restrict now, __global float* restrict next, int n) {
  int const column = get_global_id(0);
  int const row = get_global_id(1);
  if (row < 1 || row >= n - 1 || column < 1 || column >= n - 1) return;
  int const here = row * n + column;
  next[here] = 0.2f * (now[here] + now[here - 1] + now[here + 1] + now[here - n] + now[here + n]);
}

__kernel void jacobi2d_copy(__global float* restrict now, __global const float* restrict next, int n) {
  int const column = get_global_id(0);
  int const row = get_global_id(1);
  if (row < 1 || row >= n - 1 || column < 1 || column >= n - 1) return;
  now[row * n + column] = next[row * n + column];
}
