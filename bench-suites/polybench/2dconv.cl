// out = in convolved with 3 x 3 weights, row-major; the border of `out` stays as it is.
//
// One work-item per element of `out`; groups of 32 x 8.
__kernel void conv2d(__global const float* restrict in, __global float* restrict out, int rows, int columns) {
  float const weight[3][3] = {{0.2f, 0.5f, -0.8f}, {-0.3f, 0.6f, -0.9f}, {0.4f, 0.7f, 0.1f}};
  int const column = get_global_id(0);
  int const row = get_global_id(1);
  if (row < 1 || row >= rows - 1 || column < 1 || column >= columns - 1) return;
  float sum = 0.0f;
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 3; ++x) sum += weight[y][x] * in[(row + y - 1) * columns + column + x - 1];
  out[row * columns + column] = sum;
}
