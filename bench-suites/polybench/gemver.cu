// a += u1 v1T + u2 v2T, then x += beta aT y + z, then w += alpha a x; a is n x n, row-major.
//
// One thread per element of a in blocks of 32 x 8, then one per element of x and of w in blocks of 256.
extern "C" __global__ void gemver_rank2(float* __restrict__ a, float const* __restrict__ u1,
                                        float const* __restrict__ v1, float const* __restrict__ u2,
                                        float const* __restrict__ v2, int n) {
  int const column = blockIdx.x * blockDim.x + threadIdx.x;
  int const row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n) return;
  a[row * n + column] += u1[row] * v1[column] + u2[row] * v2[column];
}

extern "C" __global__ void gemver_x(float const* __restrict__ a, float const* __restrict__ y,
                                    float const* __restrict__ z, float* __restrict__ x, float beta, int n) {
  int const column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) return;
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) sum += a[k * n + column] * y[k];
  x[column] += beta * sum + z[column];
}

extern "C" __global__ void gemver_w(float const* __restrict__ a, float const* __restrict__ x, float* __restrict__ w,
                                    float alpha, int n) {
  int const row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * x[k];
  w[row] += alpha * sum;
}
