// c = alpha a aT + beta c; a is n x depth, c n x n, row-major.
//
// One thread per element of c; blocks of 32 x 8. Symmetry is not used, as in PolyBench.
extern "C" __global__ void syrk(float const* __restrict__ a, float* __restrict__ c, float alpha, float beta, int n,
                                int depth) {
  int const column = blockIdx.x * blockDim.x + threadIdx.x;
  int const row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n) return;
  float sum = 0.0f;
  for (int k = 0; k < depth; ++k) sum += a[row * depth + k] * a[column * depth + k];
  c[row * n + column] = alpha * sum + beta * c[row * n + column];
}
