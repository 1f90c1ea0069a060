// out = in convolved with FILTER x FILTER weights, row-major; `in` has FILTER - 1 more columns and rows than the
// WIDTH x HEIGHT elements of `out`.
//
// A work-item has TILE_X x TILE_Y elements, which lie BLOCK_X columns and BLOCK_Y rows apart; groups of BLOCK_X x BLOCK_Y.
// Only where the elements of groups do not divide those of `out` does it test which are inside.
#if WIDTH % (BLOCK_X * TILE_X) || HEIGHT % (BLOCK_Y * TILE_Y)
#define INSIDE(column, row) ((column) < WIDTH && (row) < HEIGHT)
#else
#define INSIDE(column, row) 1
#endif

__kernel __attribute__((reqd_work_group_size(BLOCK_X, BLOCK_Y, 1))) void convolution(__global const float* restrict in,
                                                                                     __global float* restrict out,
                                                                                     __constant float* weights) {
  int const left = get_group_id(0) * BLOCK_X * TILE_X + get_local_id(0);
  int const top = get_group_id(1) * BLOCK_Y * TILE_Y + get_local_id(1);
  float sum[TILE_Y][TILE_X] = {{0.0f}};
  for (int j = 0; j < FILTER; ++j)
    for (int i = 0; i < FILTER; ++i) {
#pragma unroll
      for (int y = 0; y < TILE_Y; ++y)
#pragma unroll
        for (int x = 0; x < TILE_X; ++x) {
          int const column = left + x * BLOCK_X, row = top + y * BLOCK_Y;
          if (INSIDE(column, row))
            sum[y][x] += weights[j * FILTER + i] * in[(row + j) * (WIDTH + FILTER - 1) + column + i];
        }
    }
#pragma unroll
  for (int y = 0; y < TILE_Y; ++y)
#pragma unroll
    for (int x = 0; x < TILE_X; ++x) {
      int const column = left + x * BLOCK_X, row = top + y * BLOCK_Y;
      if (INSIDE(column, row)) out[row * WIDTH + column] = sum[y][x];
    }
}
