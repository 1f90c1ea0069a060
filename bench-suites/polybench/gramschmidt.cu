// a = q r by modified Gram-Schmidt: q has orthonormal columns, r is upper triangular. a and q are rows x columns, r
// columns x columns, row-major; a is overwritten with what is left of it.
//
// Three launches per column k: its norm (one block of 256, a tree in shared memory), the column of q, and its part
// taken out of the columns right of it (one thread per column, blocks of 256). The last ones shrink with what is left.
extern "C" __global__ void gramschmidt_norm(float const* __restrict__ a, float* __restrict__ r, int k, int rows,
                                            int columns) {
  __shared__ float sums[256];
  int const item = threadIdx.x;
  float sum = 0.0f;
  for (int row = item; row < rows; row += 256) sum += a[row * columns + k] * a[row * columns + k];
  sums[item] = sum;
  __syncthreads();
  for (int active = 128; active > 0; active /= 2) {
    if (item < active) sums[item] += sums[item + active];
    __syncthreads();
  }
  if (item == 0) r[k * columns + k] = sqrtf(sums[0]);
}

extern "C" __global__ void gramschmidt_column(float const* __restrict__ a, float const* __restrict__ r,
                                              float* __restrict__ q, int k, int rows, int columns) {
  int const row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  q[row * columns + k] = a[row * columns + k] / r[k * columns + k];
}

extern "C" __global__ void gramschmidt_remove(float* __restrict__ a, float* __restrict__ r, float const* __restrict__ q,
                                              int k, int rows, int columns) {
  int const column = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  float sum = 0.0f;
  for (int row = 0; row < rows; ++row) sum += q[row * columns + k] * a[row * columns + column];
  r[k * columns + column] = sum;
  for (int row = 0; row < rows; ++row) a[row * columns + column] -= q[row * columns + k] * sum;
}
