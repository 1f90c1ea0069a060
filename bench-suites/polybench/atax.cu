// y = aT (a x); a is rows x columns, row-major.
//
// One thread per row, then one per column; blocks of 256. Reading rows is strided over the threads, reading
// columns is contiguous.
extern "C" __global__ void atax_rows(float const* __restrict__ a, float const* __restrict__ x, float* __restrict__ ax,
                                     int rows, int columns) {
  int const row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int k = 0; k < columns; ++k) sum += a[row * columns + k] * x[k];
  ax[row] = sum;
}

extern "C" __global__ void atax_columns(float const* __restrict__ a, float const* __restrict__ ax,
                                        float* __restrict__ y, int rows, int columns) {
  int const column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  float sum = 0.0f;
  for (int k = 0; k < rows; ++k) sum += a[k * columns + column] * ax[k];
  y[column] = sum;
}
