// a = L U in place without pivoting: L with its diagonal, U above it with ones on its own. a is n x n, row-major.
//
// Two launches per pivot k: row k right of the pivot is divided by it (blocks of 256), then everything below and right
// of it is updated (blocks of 32 x 8). The launches shrink with the part that is left.
extern "C" __global__ void lu_divide(float* a, int k, int n) {
  int const column = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) return;
  a[k * n + column] /= a[k * n + k];
}

extern "C" __global__ void lu_update(float* a, int k, int n) {
  int const column = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
  int const row = k + 1 + blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n) return;
  a[row * n + column] -= a[row * n + k] * a[k * n + column];
}
