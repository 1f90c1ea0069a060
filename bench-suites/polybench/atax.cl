// y = aT (a x); a is rows x columns, row-major.
//
// One work-item per row, then one per column; groups of 256. Reading rows is strided over the work-items, reading
// columns is contiguous.
__kernel void atax_rows(__global const float* restrict a, __global const float* restrict x, __global float* restrict ax,
                        int rows, int columns) {
  int const row = get_global_id(0);
  if (row >= rows) return;
  float sum = 0.0f;
  for (int k = 0; k < columns; ++k) sum += a[row * columns + k] * x[k];
  ax[row] = sum;
}

__kernel void atax_columns(__global const float* restrict a, __global const float* restrict ax,
                           __global float* restrict y, int rows, int columns) {
  int const column = get_global_id(0);
  if (column >= columns) return;
  float sum = 0.0f;
  for (int k = 0; k < rows; ++k) sum += a[k * columns + column] * ax[k];
  y[column] = sum;
}
