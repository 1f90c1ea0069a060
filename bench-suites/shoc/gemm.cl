// c = alpha a op(b) + beta c for square matrices of n columns, stored column by column as in BLAS; op(b) = b or its
// transpose.
//
// A group of 16 x 4 work-items makes 64 rows x 16 columns of c: a work-item one row, sixteen sums in registers. Sixteen
// rows of op(b) at a time pass through local memory; a is read from global memory, once per group. n is a multiple of
// 64, global n / 4 x n / 4. -DDOUBLE=1: double precision.
#if DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
#else
typedef float real;
#endif

#define COLUMNS 16
#define DEPTH 16

// tile[k][column] holds op(b), rows from `first` on, for the group's columns. Consecutive work-items read consecutive
// elements of b whichever way it lies.
void load_tile(__local real (*tile)[COLUMNS + 1], __global real const* b, int n, int first, int column,
               bool transposed) {
  int const x = get_local_id(0);
  for (int y = get_local_id(1); y < 16; y += 4) {
    if (transposed)
      tile[y][x] = b[(first + y) * n + column + x];
    else
      tile[x][y] = b[(column + y) * n + first + x];
  }
}

void multiply(__local real (*tile)[COLUMNS + 1], __global real const* a, __global real const* b, __global real* c,
              int n, real alpha, real beta, bool transposed) {
  int const row = 64 * get_group_id(0) + 16 * get_local_id(1) + get_local_id(0);
  int const column = COLUMNS * get_group_id(1);
  real sums[COLUMNS];
#pragma unroll
  for (int j = 0; j < COLUMNS; ++j) sums[j] = 0;
  for (int first = 0; first < n; first += DEPTH) {
    load_tile(tile, b, n, first, column, transposed);
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int k = 0; k < DEPTH; ++k) {
      real const factor = a[(first + k) * n + row];
#pragma unroll
      for (int j = 0; j < COLUMNS; ++j) sums[j] += factor * tile[k][j];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
#pragma unroll
  for (int j = 0; j < COLUMNS; ++j) {
    int const place = (column + j) * n + row;
    c[place] = alpha * sums[j] + beta * c[place];
  }
}

__kernel __attribute__((reqd_work_group_size(16, 4, 1))) void gemm_nn(__global real const* a, __global real const* b,
                                                                      __global real* c, int const n, real const alpha,
                                                                      real const beta) {
  __local real tile[DEPTH][COLUMNS + 1];
  multiply(tile, a, b, c, n, alpha, beta, false);
}

__kernel __attribute__((reqd_work_group_size(16, 4, 1))) void gemm_nt(__global real const* a, __global real const* b,
                                                                      __global real* c, int const n, real const alpha,
                                                                      real const beta) {
  __local real tile[DEPTH][COLUMNS + 1];
  multiply(tile, a, b, c, n, alpha, beta, true);
}
