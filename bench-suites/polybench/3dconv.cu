// out = in convolved with eleven weights out of 3 x 3 x 3; the border of `out` stays as it is.
//
// PolyBench adds fifteen products; two neighbours occur three times and have their weights added up here.
// One thread per element of the planes 1 to depth - 2, x fastest; blocks of 32 x 8 x 1.
extern "C" __global__ void conv3d(float const* __restrict__ in, float* __restrict__ out, int depth, int rows,
                                  int columns) {
  int const x = blockIdx.x * blockDim.x + threadIdx.x;
  int const y = blockIdx.y * blockDim.y + threadIdx.y;
  int const z = 1 + blockIdx.z * blockDim.z + threadIdx.z;
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
