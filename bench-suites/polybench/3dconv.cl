// out = in convolved with eleven weights out of 3 x 3 x 3; the border of `out` stays as it is.
//
// PolyBench adds fifteen products; two neighbours occur three times and have their weights added up here.
// One work-item per element of the planes 1 to depth - 2, x fastest; groups of 32 x 8 x 1.
__kernel void conv3d(__global const float* restrict in, __global float* restrict out, int depth, int rows,
                     int columns) {
  int const x = get_global_id(0);
  int const y = get_global_id(1);
  int const z = 1 + get_global_id(2);
  if (x < 1 || x >= columns - 1 || y < 1 || y >= rows - 1 || z >= depth - 1) return;
  int const plane = rows * columns;
  int const here = z * plane + y * columns + x;
  int const up = here - plane, down = here + plane;
  float sum = -1.0f * in[up - columns - 1] + 21.0f * in[down - columns - 1];
  sum += -3.0f * in[here - columns] + 6.0f * in[here] - 9.0f * in[here + columns];
  sum += 2.0f * in[up - columns + 1] + 5.0f * in[up + 1] - 8.0f * in[up + columns + 1];
  sum += 4.0f * in[down - columns + 1] + 7.0f * in[down + 1] + 10.0f * in[down + columns + 1];
  out[here] = sum;
}
