// c = alpha a aT + beta c; a is n x depth, c n x n, row-major.
//
// One work-item per element of c; groups of 32 x 8. Symmetry is not used, as in PolyBench.
__kernel void syrk(__global const float* restrict a, __global float* restrict c, float alpha, float beta, int n,
                   int depth) {
  int const column = get_global_id(0);
  int const row = get_global_id(1);
  if (row >= n || column >= n) return;
  float sum = 0.0f;
  for (int k = 0; k < depth; ++k) sum += a[row * depth + k] * a[column * depth + k];
  c[row * n + column] = alpha * sum + beta * c[row * n + column];
}
