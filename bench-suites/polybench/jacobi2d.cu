// One step of smoothing on n x n: next = 0.2 (now and its four neighbours), then now = next; the border stays.
//
// One thread per element; blocks of 32 x 8. The copy is a launch of its own: the step still reads its neighbours.
extern "C" __global__ void jacobi2d_step(float const* __restrict__ now, float* __restrict__ next, int n) {
  int const column = blockIdx.x * blockDim.x + threadIdx.x;
  int const row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < 1 || row >= n - 1 || column < 1 || column >= n - 1) return;
  int const here = row * n + column;
  next[here] = 0.2f * (now[here] + now[here - 1] + now[here + 1] + now[here - n] + now[here + n]);
}

extern "C" __global__ void jacobi2d_copy(float* __restrict__ now, float const* __restrict__ next, int n) {
  int const column = blockIdx.x * blockDim.x + threadIdx.x;
  int const row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < 1 || row >= n - 1 || column < 1 || column >= n - 1) return;
  now[row * n + column] = next[row * n + column];
}
