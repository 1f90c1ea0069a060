// One step of smoothing: next[i] = (now[i-1] + now[i] + now[i+1]) 0.33333, then now = next; both ends stay.
//
// One work-item per element; groups of 256. The copy is a launch of its own: the step still reads its neighbours.
__kernel void jacobi1d_step(__global const float* restrict now, __global float* restrict next, int n) {
  int const i = get_global_id(0);
  if (i < 1 || i >= n - 1) return;
  next[i] = 0.33333f * (now[i - 1] + now[i] + now[i + 1]);
}

__kernel void jacobi1d_copy(__global float* restrict now, __global const float* restrict next, int n) {
  int const i = get_global_id(0);
  if (i < 1 || i >= n - 1) return;
  now[i] = next[i];
}
