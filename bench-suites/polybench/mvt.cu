// x1 += a y1 and x2 += aT y2; a is n x n, row-major.
//
// One thread per element of the result; blocks of 256.
extern "C" __global__ void mvt_rows(float const* __restrict__ a, float const* __restrict__ y1, float* __restrict__ x1,
                                    int n) {
  int const row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float sum = x1[row];
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * y1[k];
  x1[row] = sum;
}

extern "C" __global__ void mvt_columns(float const* __restrict__ a, float const* __restrict__ y2,
                                       float* __restrict__ x2, int n) {
  int const column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) return;
  float sum = x2[column];
  for (int k = 0; k < n; ++k) sum += a[k * n + column] * y2[k];
  x2[column] = sum;
}
