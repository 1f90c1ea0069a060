// product = left right, launched three times: ab = a b, cd = c d, abcd = ab cd. Matrices are row-major.
//
// `left` is rows x depth, `right` depth x columns. One work-item per element of the product; groups of 32 x 8.
__kernel void mm3_product(__global const float* restrict left, __global const float* restrict right,
                          __global float* restrict product, int rows, int columns, int depth) {
  int const column = get_global_id(0);
  int const row = get_global_id(1);
  if (row >= rows || column >= columns) return;
  float sum = 0.0f;
  for (int k = 0; k < depth; ++k) sum += left[row * depth + k] * right[k * columns + column];
  product[row * columns + column] = sum;
}
