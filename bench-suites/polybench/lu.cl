// a = L U in place without pivoting: L with its diagonal, U above it with ones on its own. a is n x n, row-major.
//
// Two launches per pivot k: row k right of the pivot is divided by it (groups of 256), then everything below and right
// of it is updated (groups of 32 x 8). The launches shrink with the part that is left.
__kernel void lu_divide(__global float* a, int k, int n) {
  int const column = k + 1 + get_global_id(0);
  if (column >= n) return;
  a[k * n + column] /= a[k * n + k];
}

__kernel void lu_update(__global float* a, int k, int n) {
  int const column = k + 1 + get_global_id(0);
  int const row = k + 1 + get_global_id(1);
  if (row >= n || column >= n) return;
  a[row * n + column] -= a[row * n + k] * a[k * n + column];
}
