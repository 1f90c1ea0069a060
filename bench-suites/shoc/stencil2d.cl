// Nine-point stencil on a rectangle with a fixed border one cell wide, one step per launch:
//   to = center * x + cardinal * (north + south + east + west) + diagonal * (the four corners)
//
// Arrays hold (rows + 2) rows of `pitch` elements, row and column 0 are border. A group makes 8 rows x 256 columns,
// which it reads with their surroundings through local memory. rows is a multiple of 8, columns of 256; global columns
// x rows / 8, groups of 256 x 1. -DDOUBLE=1: double precision.
#if DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
#else
typedef float real;
#endif

#define WIDTH 256
#define HEIGHT 8

// Gives `to` the border of `from`; one work-item per row and column, borders included, whichever are more.
__kernel void stencil2d_border(__global real const* from, __global real* to, int const rows, int const columns,
                               int const pitch) {
  int const i = get_global_id(0);
  if (i < columns + 2) {
    to[i] = from[i];
    to[(rows + 1) * pitch + i] = from[(rows + 1) * pitch + i];
  }
  if (i < rows + 2) {
    to[i * pitch] = from[i * pitch];
    to[i * pitch + columns + 1] = from[i * pitch + columns + 1];
  }
}

__kernel __attribute__((reqd_work_group_size(WIDTH, 1, 1))) void stencil2d_step(__global real const* from,
                                                                                __global real* to, int const pitch,
                                                                                real const center, real const cardinal,
                                                                                real const diagonal) {
  __local real tile[HEIGHT + 2][WIDTH + 2];
  int const x = get_local_id(0) + 1;
  int const first = HEIGHT * get_group_id(1) * pitch + WIDTH * get_group_id(0) + x;
  __global real const* const source = from + first;
  for (int y = 0; y < HEIGHT + 2; ++y) tile[y][x] = source[y * pitch];
  // The first and the last work-item also read the column beside theirs.
  if (x == 1)
    for (int y = 0; y < HEIGHT + 2; ++y) tile[y][0] = source[y * pitch - 1];
  else if (x == WIDTH)
    for (int y = 0; y < HEIGHT + 2; ++y) tile[y][WIDTH + 1] = source[y * pitch + 1];
  barrier(CLK_LOCAL_MEM_FENCE);
  __global real* const target = to + first;
  for (int y = 1; y <= HEIGHT; ++y) {
    real const near = tile[y - 1][x] + tile[y + 1][x] + tile[y][x - 1] + tile[y][x + 1];
    real const far = tile[y - 1][x - 1] + tile[y - 1][x + 1] + tile[y + 1][x - 1] + tile[y + 1][x + 1];
    target[y * pitch] = center * tile[y][x] + cardinal * near + diagonal * far;
  }
}
