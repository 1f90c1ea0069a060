// d = alpha a b c + beta d, in two launches with ab = alpha a b between them. Matrices are row-major.
//
// One thread per element of the product; blocks of 32 x 8.

// a is rows x depth, b depth x columns.
extern "C" __global__ void mm2_first(float const* __restrict__ a, float const* __restrict__ b, float* __restrict__ ab,
                                     float alpha, int rows, int columns, int depth) {
  int const column = blockIdx.x * blockDim.x + threadIdx.x;
  int const row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  float sum = 0.0f;
  for (int k = 0; k < depth; ++k) sum += a[row * depth + k] * b[k * columns + column];
  ab[row * columns + column] = alpha * sum;
}

// ab is rows x depth, c depth x columns.
extern "C" __global__ void mm2_second(float const* __restrict__ ab, float const* __restrict__ c, float* __restrict__ d,
                                      float beta, int rows, int columns, int depth) {
  int const column = blockIdx.x * blockDim.x + threadIdx.x;
  int const row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  float sum = 0.0f;
  for (int k = 0; k < depth; ++k) sum += ab[row * depth + k] * c[k * columns + column];
  d[row * columns + column] = sum + beta * d[row * columns + column];
}
