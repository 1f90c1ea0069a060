// c = alpha a b + beta c; a is rows x depth, b depth x columns, c rows x columns, all row-major.
//
// One thread per element of c; blocks of 32 x 8.
extern "C" __global__ void gemm(float const* __restrict__ a, float const* __restrict__ b, float* __restrict__ c,
                                float alpha, float beta, int rows, int columns, int depth) {
  int const column = blockIdx.x * blockDim.x + threadIdx.x;
  int const row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  float sum = 0.0f;
  for (int k = 0; k < depth; ++k) sum += a[row * depth + k] * b[k * columns + column];
  c[row * columns + column] = alpha * sum + beta * c[row * columns + column];
}
