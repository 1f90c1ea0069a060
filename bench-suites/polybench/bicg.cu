// q = a p and s = aT r, the two products of a step of BiCG; a is rows x columns, row-major.
//
// One thread per row, then one per column; blocks of 256.
extern "C" __global__ void bicg_q(float const* __restrict__ a, float const* __restrict__ p, float* __restrict__ q,
                                  int rows, int columns) {
  int const row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int k = 0; k < columns; ++k) sum += a[row * columns + k] * p[k];
  q[row] = sum;
}

extern "C" __global__ void bicg_s(float const* __restrict__ a, float const* __restrict__ r, float* __restrict__ s,
                                  int rows, int columns) {
  int const column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  float sum = 0.0f;
  for (int k = 0; k < rows; ++k) sum += a[k * columns + column] * r[k];
  s[column] = sum;
}
