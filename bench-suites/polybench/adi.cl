// A step of alternating directions on n x n: the recurrences of a tridiagonal solver along every row, then along every
// column. x holds the right-hand sides, b the diagonals, a what stands beside them.
//
// The back substitution divides and multiplies at PolyBench's indices, which are not those that would solve the
// systems. One work-item per row or column; groups of 256. Row sweeps are strided over the work-items, column sweeps
// contiguous.

// Makes random diagonals dominant, so that they stay away from 0 through both sweeps. Groups of 256.
__kernel void adi_prepare(__global float* b, float shift, int elements) {
  int const i = get_global_id(0);
  if (i < elements) b[i] += shift;
}

__kernel void adi_rows(__global float* restrict x, __global const float* restrict a, __global float* restrict b,
                       int n) {
  int const row = get_global_id(0);
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

__kernel void adi_columns(__global float* restrict x, __global const float* restrict a, __global float* restrict b,
                          int n) {
  int const column = get_global_id(0);
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
