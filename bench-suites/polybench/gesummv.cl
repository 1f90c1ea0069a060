// y = alpha a x + beta b x; a and b are n x n, row-major.
//
// One work-item per row; groups of 256.
__kernel void gesummv(__global const float* restrict a, __global const float* restrict b,
                      __global const float* restrict x, __global float* restrict y, float alpha, float beta, int n) {
  int const row = get_global_id(0);
  if (row >= n) return;
  float sum_a = 0.0f, sum_b = 0.0f;
  for (int k = 0; k < n; ++k) {
    sum_a += a[row * n + k] * x[k];
    sum_b += b[row * n + k] * x[k];
  }
  y[row] = alpha * sum_a + beta * sum_b;
}
