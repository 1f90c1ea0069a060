// x1 += a y1 and x2 += aT y2; a is n x n, row-major.
//
// One work-item per element of the result; groups of 256.
__kernel void mvt_rows(__global const float* restrict a, __global const float* restrict y1, __global float* restrict x1,
                       int n) {
  int const row = get_global_id(0);
  if (row >= n) return;
  float sum = x1[row];
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * y1[k];
  x1[row] = sum;
}

__kernel void mvt_columns(__global const float* restrict a, __global const float* restrict y2,
                          __global float* restrict x2, int n) {
  int const column = get_global_id(0);
  if (column >= n) return;
  float sum = x2[column];
  for (int k = 0; k < n; ++k) sum += a[k * n + column] * y2[k];
  x2[column] = sum;
}
