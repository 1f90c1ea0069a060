// Sums of products of the columns of data about their means; data is points x variables, row-major. PolyBench's
// covariance: not divided by the number of points.
//
// Means (groups of 256), columns centred in place, then the products of every two columns (groups of 32 x 8). Only
// pairs on and above the diagonal are computed, and stored on both sides of it.
__kernel void covar_mean(__global const float* restrict data, __global float* restrict mean, int points,
                         int variables) {
  int const column = get_global_id(0);
  if (column >= variables) return;
  float sum = 0.0f;
  for (int k = 0; k < points; ++k) sum += data[k * variables + column];
  mean[column] = sum / (float)points;
}

__kernel void covar_centre(__global float* restrict data, __global const float* restrict mean, int points,
                           int variables) {
  int const column = get_global_id(0);
  int const point = get_global_id(1);
  if (column >= variables || point >= points) return;
  data[point * variables + column] -= mean[column];
}

__kernel void covar_product(__global const float* restrict data, __global float* restrict covariance, int points,
                            int variables) {
  int const column = get_global_id(0);
  int const row = get_global_id(1);
  if (row >= variables || column >= variables || column < row) return;
  float sum = 0.0f;
  for (int k = 0; k < points; ++k) sum += data[k * variables + row] * data[k * variables + column];
  covariance[row * variables + column] = sum;
  covariance[column * variables + row] = sum;
}
