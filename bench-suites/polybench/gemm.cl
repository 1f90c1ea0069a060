// c = alpha a b + beta c; a is rows x depth, b depth x columns, c rows x columns, all row-major.
//
// One work-item per element of c; groups of 32 x 8.
__kernel void gemm(__global const float* restrict a, __global const float* restrict b, __global float* restrict c,
                   float alpha, float beta, int rows, int columns, int depth) {
  int const column = get_global_id(0);
  int const row = get_global_id(1);
  if (row >= rows || column >= columns) return;
  float sum = 0.0f;
  for (int k = 0; k < depth; ++k) sum += a[row * depth + k] * b[k * columns + column];
  c[row * columns + column] = alpha * sum + beta * c[row * columns + column];
}
