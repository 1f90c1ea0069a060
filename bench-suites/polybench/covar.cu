// Sums of products of the columns of data about their means; data is points x variables, row-major. PolyBench's
// covariance: not divided by the number of points.
//
// Means (blocks of 256), columns centred in place, then the products of every two columns (blocks of 32 x 8). Only
// pairs on and above the diagonal are computed, and stored on both sides of it.
extern "C" __global__ void covar_mean(float const* __restrict__ data, float* __restrict__ mean, int points,
                                      int variables) {
  int const column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= variables) return;
  float sum = 0.0f;
  for (int k = 0; k < points; ++k) sum += data[k * variables + column];
  mean[column] = sum / (float)points;
}

extern "C" __global__ void covar_centre(float* __restrict__ data, float const* __restrict__ mean, int points,
                                        int variables) {
  int const column = blockIdx.x * blockDim.x + threadIdx.x;
  int const point = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= variables || point >= points) return;
  data[point * variables + column] -= mean[column];
}

extern "C" __global__ void covar_product(float const* __restrict__ data, float* __restrict__ covariance, int points,
                                         int variables) {
  int const column = blockIdx.x * blockDim.x + threadIdx.x;
  int const row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= variables || column >= variables || column < row) return;
  float sum = 0.0f;
  for (int k = 0; k < points; ++k) sum += data[k * variables + row] * data[k * variables + column];
  covariance[row * variables + column] = sum;
  covariance[column * variables + row] = sum;
}
