// Correlation of the columns of data, points x variables, row-major: an n x n matrix with ones on its diagonal.
//
// Mean and standard deviation of each column (blocks of 256), columns normalised in place, then the products of every
// two columns (blocks of 32 x 8). Only pairs above the diagonal are computed, and stored on both sides of it: blocks
// below the diagonal end at once. A deviation up to `epsilon` counts as 1.
extern "C" __global__ void corr_mean(float const* __restrict__ data, float* __restrict__ mean, int points,
                                     int variables) {
  int const column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= variables) return;
  float sum = 0.0f;
  for (int k = 0; k < points; ++k) sum += data[k * variables + column];
  mean[column] = sum / (float)points;
}

extern "C" __global__ void corr_deviation(float const* __restrict__ data, float const* __restrict__ mean,
                                          float* __restrict__ deviation, float epsilon, int points, int variables) {
  int const column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= variables) return;
  float const centre = mean[column];
  float sum = 0.0f;
  for (int k = 0; k < points; ++k) {
    float const away = data[k * variables + column] - centre;
    sum += away * away;
  }
  float const spread = sqrtf(sum / (float)points);
  deviation[column] = spread <= epsilon ? 1.0f : spread;
}

extern "C" __global__ void corr_normalise(float* __restrict__ data, float const* __restrict__ mean,
                                          float const* __restrict__ deviation, int points, int variables) {
  int const column = blockIdx.x * blockDim.x + threadIdx.x;
  int const point = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= variables || point >= points) return;
  int const here = point * variables + column;
  data[here] = (data[here] - mean[column]) / (sqrtf((float)points) * deviation[column]);
}

extern "C" __global__ void corr_product(float const* __restrict__ data, float* __restrict__ correlation, int points,
                                        int variables) {
  int const column = blockIdx.x * blockDim.x + threadIdx.x;
  int const row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= variables || column >= variables || column < row) return;
  float sum = 1.0f;
  if (column > row) {
    sum = 0.0f;
    for (int k = 0; k < points; ++k) sum += data[k * variables + row] * data[k * variables + column];
  }
  correlation[row * variables + column] = sum;
  correlation[column * variables + row] = sum;
}
