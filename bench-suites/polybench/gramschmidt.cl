// a = q r by modified Gram-Schmidt: q has orthonormal columns, r is upper triangular. a and q are rows x columns, r
// columns x columns, row-major; a is overwritten with what is left of it.
//
// Three launches per column k: its norm (one group of 256, a tree in local memory), the column of q, and its part taken
// out of the columns right of it (one work-item per column, groups of 256). The last ones shrink with what is left.
__kernel void gramschmidt_norm(__global const float* restrict a, __global float* restrict r, int k, int rows,
                               int columns) {
  __local float sums[256];
  int const item = get_local_id(0);
  float sum = 0.0f;
  for (int row = item; row < rows; row += 256) sum += a[row * columns + k] * a[row * columns + k];
  sums[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int active = 128; active > 0; active /= 2) {
    if (item < active) sums[item] += sums[item + active];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (item == 0) r[k * columns + k] = sqrt(sums[0]);
}

__kernel void gramschmidt_column(__global const float* restrict a, __global const float* restrict r,
                                 __global float* restrict q, int k, int rows, int columns) {
  int const row = get_global_id(0);
  if (row >= rows) return;
  q[row * columns + k] = a[row * columns + k] / r[k * columns + k];
}

__kernel void gramschmidt_remove(__global float* restrict a, __global float* restrict r,
                                 __global const float* restrict q, int k, int rows, int columns) {
  int const column = k + 1 + get_global_id(0);
  if (column >= columns) return;
  float sum = 0.0f;
  for (int row = 0; row < rows; ++row) sum += q[row * columns + k] * a[row * columns + column];
  r[k * columns + column] = sum;
  for (int row = 0; row < rows; ++row) a[row * columns + column] -= q[row * columns + k] * sum;
}
