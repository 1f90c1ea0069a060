// a[r][q][p] = sum over s of a[r][q][s] c4[s][p], through `sum`; a is nr x nq x np, c4 np x np.
//
// One thread per element, p fastest; blocks of 32 x 8 x 1. The copy back is a launch of its own: until all products
// are done, a is still read.
extern "C" __global__ void doitgen_product(float const* __restrict__ a, float const* __restrict__ c4,
                                           float* __restrict__ sum, int nr, int nq, int np) {
  int const p = blockIdx.x * blockDim.x + threadIdx.x;
  int const q = blockIdx.y * blockDim.y + threadIdx.y;
  int const r = blockIdx.z * blockDim.z + threadIdx.z;
  if (p >= np || q >= nq || r >= nr) return;
  int const row = (r * nq + q) * np;
  float total = 0.0f;
  for (int s = 0; s < np; ++s) total += a[row + s] * c4[s * np + p];
  sum[row + p] = total;
}

extern "C" __global__ void doitgen_copy(float* __restrict__ a, float const* __restrict__ sum, int nr, int nq, int np) {
  int const p = blockIdx.x * blockDim.x + threadIdx.x;
  int const q = blockIdx.y * blockDim.y + threadIdx.y;
  int const r = blockIdx.z * blockDim.z + threadIdx.z;
  if (p >= np || q >= nq || r >= nr) return;
  int const here = (r * nq + q) * np + p;
  a[here] = sum[here];
}
