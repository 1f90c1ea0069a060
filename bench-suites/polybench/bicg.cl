// q = a p and s = aT r, the two products of a step of BiCG; a is rows x columns, row-major.
//
// One work-item per row, then one per column; groups of 256.
__kernel void bicg_q(__global const float* restrict a, __global const float* restrict p, __global float* restrict q,
                     int rows, int columns) {
  int const row = get_global_id(0);
  if (row >= rows) return;
  float sum = 0.0f;
  for (int k = 0; k < columns; ++k) sum += a[row * columns + k] * p[k];
  q[row] = sum;
}

__kernel void bicg_s(__global const float* restrict a, __global const float* restrict r, __global float* restrict s,
                     int rows, int columns) {
  int const column = get_global_id(0);
  if (column >= columns) return;
  float sum = 0.0f;
  for (int k = 0; k < rows; ++k) sum += a[k * columns + column] * r[k];
  s[column] = sum;
}
