// A step of alternating directions on n x n: the recurrences of a tridiagonal solver along every row, then along every
// column. x holds the right-hand sides, b the diagonals, a what stands beside them.
//
// The back substitution divides and multiplies at PolyBench's indices, which are not those that would solve the
// systems. One thread per row or column; blocks of 256. Row sweeps are strided over the threads, column sweeps
// contiguous.

// Makes random diagonals dominant, so that they stay away from 0 through both sweeps. Blocks of 256.
extern "C" __global__ void adi_prepare(float* b, float shift, int elements) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < elements) b[i] += shift;
}

extern "C" __global__ void adi_rows(float* __restrict__ x, float const* __restrict__ a, float* __restrict__ b, int n) {
  int const row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  int const first = row * n;
  for (int i = first + 1; i < first + n; ++i) {
    float const factor = a[i] / b[i - 1];
    x[i] -= x[i - 1] * factor;
    b[i] -= a[i] * factor;
  }
  x[first + n - 1] /= b[first + n - 1];
  for (int i = first + n - 2; i > first; --i) x[i] = (x[i] - x[i - 1] * a[i - 1]) / b[i - 1];
}

extern "C" __global__ void adi_columns(float* __restrict__ x, float const* __restrict__ a, float* __restrict__ b,
                                       int n) {
  int const column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n) return;
  for (int i = column + n; i < n * n; i += n) {
    float const factor = a[i] / b[i - n];
    x[i] -= x[i - n] * factor;
    b[i] -= a[i] * factor;
  }
  int const last = (n - 1) * n + column;
  x[last] /= b[last];
  for (int i = last - n; i > column; i -= n) x[i] = (x[i] - x[i - n] * a[i - n]) / b[i];
}
