// Nine-point stencil on a rectangle with a fixed border one cell wide, one step per launch:
//   to = center * x + cardinal * (north + south + east + west) + diagonal * (the four corners)
//
// Arrays hold (rows + 2) rows of `pitch` elements, row and column 0 are border. A block makes 8 rows x 256 columns,
// which it reads with their surroundings through shared memory. rows is a multiple of 8, columns of 256; global columns
// x rows / 8, blocks of 256 x 1. -DDOUBLE: double precision.
#ifdef DOUBLE
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
  int const item = threadIdx.x;
  int const column = width * blockIdx.x;
  int const row = height * blockIdx.y;
  for (int y = 0; y < height + 2; ++y)
    for (int x = item; x < width + 2; x += width) tile[y][x] = from[(row + y) * pitch + column + x];
  __syncthreads();
  for (int y = 1; y <= height; ++y) {
    int const x = item + 1;
    real const near = tile[y - 1][x] + tile[y + 1][x] + tile[y][x - 1] + tile[y][x + 1];
    real const far = tile[y - 1][x - 1] + tile[y - 1][x + 1] + tile[y + 1][x - 1] + tile[y + 1][x + 1];
    to[(row + y) * pitch + column + x] = center * tile[y][x] + cardinal * near + diagonal * far;
  }
}
