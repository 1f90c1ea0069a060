// a += u1 v1T + u2 v2T, then x += beta aT y + z, then w += alpha a x; a is n x n, row-major.
//
// One work-item per element of a in groups of 32 x 8, then one per element of x and of w in groups of 256.
__kernel void gemver_rank2(__global float* restrict a, __global const float* restrict u1,
                           __global const float* restrict v1, __global const float* restrict u2,
                           __global const float* restrict v2, int n) {
  int const column = get_global_id(0);
  int const row = get_global_id(1);
  if (row >= n || column >= n) return;
  a[row * n + column] += u1[row] * v1[column] + u2[row] * v2[column];
}

__kernel void gemver_x(__global const float* restrict a, __global const float* restrict y,
                       __global const float* restrict z, __global float* restrict x, float beta, int n) {
  int const column = get_global_id(0);
  if (column >= n) return;
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) sum += a[k * n + column] * y[k];
  x[column] += beta * sum + z[column];
}

__kernel void gemver_w(__global const float* restrict a, __global const float* restrict x, __global float* restrict w,
                       float alpha, int n) {
  int const row = get_global_id(0);
  if (row >= n) return;
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * x[k];
  w[row] += alpha * sum;
}
