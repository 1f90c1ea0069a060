// c = alpha a op(b) + beta c for square matrices of n columns, stored column by column as in BLAS; op(b) = b or its
// transpose.
//
// A block of 16 x 4 threads makes 64 rows x 16 columns of c: a thread one row, sixteen sums in registers. Sixteen rows
// of op(b) at a time pass through shared memory; a is read from global memory, once per block. n is a multiple of 64,
// grid n / 64 x n / 16. -DDOUBLE=1: double precision.
#if DOUBLE
using real = double;
#else
using real = float;
#endif

constexpr int columns = 16;
constexpr int depth = 16;

// tile[k][column] holds op(b), rows from `first` on, for the block's columns. Consecutive threads read consecutive
// elements of b whichever way it lies.
template <bool transposed>
__device__ void load_tile(real (&tile)[depth][columns + 1], real const* b, int n, int first, int column) {
  int const x = threadIdx.x;
  for (int y = threadIdx.y; y < 16; y += 4) {
    if (transposed)
      tile[y][x] = b[(first + y) * n + column + x];
    else
      tile[x][y] = b[(column + y) * n + first + x];
  }
}

template <bool transposed>
__device__ void multiply(real const* a, real const* b, real* c, int n, real alpha, real beta) {
  __shared__ real tile[depth][columns + 1];
  int const row = 64 * blockIdx.x + 16 * threadIdx.y + threadIdx.x;
  int const column = columns * blockIdx.y;
  real sums[columns] = {};
  for (int first = 0; first < n; first += depth) {
    load_tile<transposed>(tile, b, n, first, column);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      real const factor = a[(first + k) * n + row];
#pragma unroll
      for (int j = 0; j < columns; ++j) sums[j] += factor * tile[k][j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < columns; ++j) {
    int const place = (column + j) * n + row;
    c[place] = alpha * sums[j] + beta * c[place];
  }
}

extern "C" __global__ void __launch_bounds__(64)
    gemm_nn(real const* a, real const* b, real* c, int n, real alpha, real beta) {
  multiply<false>(a, b, c, n, alpha, beta);
}

extern "C" __global__ void __launch_bounds__(64)
    gemm_nt(real const* a, real const* b, real* c, int n, real alpha, real beta) {
  multiply<true>(a, b, c, n, alpha, beta);
}
