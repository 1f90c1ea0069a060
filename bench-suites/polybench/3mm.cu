// product = left right, launched three times: ab = a b, cd = c d, abcd = ab cd. Matrices are row-major.
//
// `left` is rows x depth, `right` depth x columns. One thread per element of the product; blocks of 32 x 8.
extern "C" __global__ void mm3_product(float const* __restrict__ left, float const* __restrict__ right,
                                       float* __restrict__ product, int rows, int columns, int depth) {
  int const column = blockIdx.x * blockDim.x + threadIdx.x;
  int const row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  float sum = 0.0f;
  for (int k = 0; k < depth; ++k) sum += left[row * depth + k] * right[k * columns + column];
  product[row * columns + column] = sum;
}
