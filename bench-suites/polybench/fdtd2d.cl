// One time step of a two-dimensional electromagnetic field, rows x columns, row-major; source[t] drives row 0 of ey.
//
// One work-item per cell; groups of 32 x 8; three launches per step, in this order.
__kernel void fdtd_ey(__global float* restrict ey, __global const float* restrict hz,
                      __global const float* restrict source, int t, int rows, int columns) {
  int const column = get_global_id(0);
  int const row = get_global_id(1);
  if (row >= rows || column >= columns) return;
  int const here = row * columns + column;
  if (row == 0)
    ey[here] = source[t];
  else
    ey[here] -= 0.5f * (hz[here] - hz[here - columns]);
}

__kernel void fdtd_ex(__global float* restrict ex, __global const float* restrict hz, int rows, int columns) {
  int const column = get_global_id(0);
  int const row = get_global_id(1);
  if (row >= rows || column < 1 || column >= columns) return;
  int const here = row * columns + column;
  ex[here] -= 0.5f * (hz[here] - hz[here - 1]);
}

__kernel void fdtd_hz(__global const float* restrict ex, __global const float* restrict ey, __global float* restrict hz,
                      int rows, int columns) {
  int const column = get_global_id(0);
  int const row = get_global_id(1);
  if (row >= rows - 1 || column >= columns - 1) return;
  int const here = row * columns + column;
  hz[here] -= 0.7f * (ex[here + 1] - ex[here] + ey[here + columns] - ey[here]);
}
