// Correlation of the columns of data, points x variables, row-major: an n x n matrix with ones on its diagonal.
//
// Mean and standard deviation of each column (groups of 256), columns normalised in place, then the products of every
// two columns (groups of 32 x 8). Only pairs above the diagonal are computed, and stored on both sides of it: groups
// below the diagonal end at once. A deviation up to `epsilon` counts as 1.
__kernel void corr_mean(__global const float* restrict data, __global float* restrict mean, int points, int variables) {
  int const column = get_global_id(0);
  if (column >= variables) return;
  float sum = 0.0f;
  for (int k = 0; k < points; ++k) sum += data[k * variables + column];
  mean[column] = sum / (float)points;
}

__kernel void corr_deviation(__global const float* restrict data, __global const float* restrict mean,
                             __global float* restrict deviation, float epsilon, int points, int variables) {
  int const column = get_global_id(0);
  if (column >= variables) return;
  float const centre = mean[column];
  float sum = 0.0f;
  for (int k = 0; k < points; ++k) {
    float const away = data[k * variables + column] - centre;
    sum += away * away;
  }
  float const spread = sqrt(sum / (float)points);
  deviation[column] = spread <= epsilon ? 1.0f : spread;
}

__kernel void corr_normalise(__global float* restrict data, __global const float* restrict mean,
                             __global const float* restrict deviation, int points, int variables) {
  int const column = get_global_id(0);
  int const point = get_global_id(1);
  if (column >= variables || point >= points) return;
  int const here = point * variables + column;
  data[here] = (data[here] - mean[column]) / (sqrt((float)points) * deviation[column]);
}

__kernel void corr_product(__global const float* restrict data, __global float* restrict correlation, int points,
                           int variables) {
  int const column = get_global_id(0);
  int const row = get_global_id(1);
  if (row >= variables || column >= variables || column < row) return;
  float sum = 1.0f;
  if (column > row) {
    sum = 0.0f;
    for (int k = 0; k < points; ++k) sum += data[k * variables + row] * data[k * variables + column];
  }
  correlation[row * variables + column] = sum;
  correlation[column * variables + row] = sum;
}
