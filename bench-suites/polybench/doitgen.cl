// a[r][q][p] = sum over s of a[r][q][s] c4[s][p], through `sum`; a is nr x nq x np, c4 np x np.
//
// One work-item per element, p fastest; groups of 32 x 8 x 1. The copy back is a launch of its own: until all products
// are done, a is still read.
__kernel void doitgen_product(__global const float* restrict a, __global const float* restrict c4,
                              __global float* restrict sum, int nr, int nq, int np) {
  int const p = get_global_id(0);
  int const q = get_global_id(1);
  int const r = get_global_id(2);
  if (p >= np || q >= nq || r >= nr) return;
  int const row = (r * nq + q) * np;
  float total = 0.0f;
  for (int s = 0; s < np; ++s) total += a[row + s] * c4[s * np + p];
  sum[row + p] = total;
}

__kernel void doitgen_copy(__global float* restrict a, __global const float* restrict sum, int nr, int nq, int np) {
  int const p = get_global_id(0);
  int const q = get_global_id(1);
  int const r = get_global_id(2);
  if (p >= np || q >= nq || r >= nr) return;
  int const here = (r * nq + q) * np + p;
  a[here] = sum[here];
}
