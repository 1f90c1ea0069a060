// Nine-point stencil on a rectangle with a fixed border one cell wide, one step per launch:
//   to = center * x + cardinal * (north + south + east + west) + diagonal * (the four corners)
//
// Arrays hold (rows + 2) rows of `pitch` elements, row and column 0 are border. A block makes 8 rows x 256 columns,
// which it reads with their surroundings through shared memory. rows is a multiple of 8, columns of 256; global columns
// x rows / 8, blocks of 256 x 1. -DDOUBLE=1: double precision.
#if DOUBLE
using real = double;
#else
using real = float;
#endif

constexpr int width = 256;
constexpr int height = 8;

// Gives `to` the border of `from`; one thread per row and column, borders included, whichever are more.
extern "C" __global__ void stencil2d_border(real const* from, real* to, int rows, int columns, int pitch) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < columns + 2) {
    to[i] = from[i];
    to[(rows + 1) * pitch + i] = from[(rows + 1) * pitch + i];
  }
  if (i < rows + 2) {
    to[i * pitch] = from[i * pitch];
    to[i * pitch + columns + 1] = from[i * pitch + columns + 1];
  }
}

extern "C" __global__ void __launch_bounds__(width)
    stencil2d_step(real const* from, real* to, int pitch, real center, real cardinal, real diagonal) {
  __shared__ real tile[height + 2][width + 2];
  int const x = threadIdx.x + 1;
  int const first = height * blockIdx.y * pitch + width * blockIdx.x + x;
  real const* const source = from + first;
  for (int y = 0; y < height + 2; ++y) tile[y][x] = source[y * pitch];
  // The first and the last thread also read the column beside theirs.
  if (x == 1)
    for (int y = 0; y < height + 2; ++y) tile[y][0] = source[y * pitch - 1];
  else if (x == width)
    for (int y = 0; y < height + 2; ++y) tile[y][width + 1] = source[y * pitch + 1];
  __syncthreads();
  real* const target = to + first;
  for (int y = 1; y <= height; ++y) {
    real const near = tile[y - 1][x] + tile[y + 1][x] + tile[y][x - 1] + tile[y][x + 1];
    real const far = tile[y - 1][x - 1] + tile[y - 1][x + 1] + tile[y + 1][x - 1] + tile[y + 1][x + 1];
    target[y * pitch] = center * tile[y][x] + cardinal * near + diagonal * far;
  }
}
