// One time step of a two-dimensional electromagnetic field, rows x columns, row-major; source[t] drives row 0 of ey.
//
// One thread per cell; blocks of 32 x 8; three launches per step, in this order.
extern "C" __global__ void fdtd_ey(float* __restrict__ ey, float const* __restrict__ hz,
                                   float const* __restrict__ source, int t, int rows, int columns) {
  int const column = blockIdx.x * blockDim.x + threadIdx.x;
  int const row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  int const here = row * columns + column;
  if (row == 0)
    ey[here] = source[t];
  else
    ey[here] -= 0.5f * (hz[here] - hz[here - columns]);
}

extern "C" __global__ void fdtd_ex(float* __restrict__ ex, float const* __restrict__ hz, int rows, int columns) {
  int const column = blockIdx.x * blockDim.x + threadIdx.x;
  int const row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column < 1 || column >= columns) return;
  int const here = row * columns + column;
  ex[here] -= 0.5f * (hz[here] - hz[here - 1]);
}

extern "C" __global__ void fdtd_hz(float const* __restrict__ ex, float const* __restrict__ ey, float* __restrict__ hz,
                                   int rows, int columns) {
  int const column = blockIdx.x * blockDim.x + threadIdx.x;
  int const row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows - 1 || column >= columns - 1) return;
  int const here = row * columns + column;
  hz[here] -= 0.7f * (ex[here + 1] - ex[here] + ey[here + columns] - ey[here]);
}
