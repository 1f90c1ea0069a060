// d = alpha a b c + beta d, in two launches with ab = alpha a b between them. Matrices are row-major.
//
// One work-item per element of the product; groups of 32 x 8.

// a is rows x depth, b depth x columns.
__kernel void mm2_first(__global const float* restrict a, __global const float* restrict b, __global float* restrict ab,
                        float alpha, int rows, int columns, int depth) {
  int const column = get_global_id(0);
  int const row = get_global_id(1);
  if (row >= rows || column >= columns) return;
  float sum = 0.0f;
  for (int k = 0; k < depth; ++k) sum += a[row * depth + k] * b[k * columns + column];
  ab[row * columns + column] = alpha * sum;
}

// ab is rows x depth, c depth x columns.
__kernel void mm2_second(__global const float* restrict ab, __global const float* restrict c,
                         __global float* restrict d, float beta, int rows, int columns, int depth) {
  int const column = get_global_id(0);
  int const row = get_global_id(1);
  if (row >= rows || column >= columns) return;
  float sum = 0.0f;
  for (int k = 0; k < depth; ++k) sum += ab[row * depth + k] * c[k * columns + column];
  d[row * columns + column] = sum + beta * d[row * columns + column];
}
