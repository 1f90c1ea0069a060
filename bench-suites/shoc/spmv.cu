// Sparse matrix times vector, result = matrix * vector, in three formats: compressed rows with one thread per row,
// compressed rows with 32 threads per row, and ELLPACK-R.
//
// Row r of a compressed matrix has elements row_start[r] ... row_start[r + 1] - 1 of values and columns. ELLPACK-R
// keeps element i of row r at i * rows + r, so that the threads of a block read neighbouring elements, and the rows'
// lengths. Blocks of 128. -DDOUBLE=1: double precision.
#if DOUBLE
using real = double;
#else
using real = float;
#endif

constexpr int threads = 128;
constexpr int row_threads = 32;

__device__ unsigned global_thread() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

// Lengths differ by up to 10 elements between the eight rows of a period and are `mean` on average. mean > 5.
__device__ int row_length(int row, int mean) {
  return mean + (int)((0x0763a158u >> (4 * (row & 7))) & 15) - 5;
}
__device__ int row_offset(int row, int mean) {
  int offset = mean * (row & ~7);
  for (int r = row & ~7; r < row; ++r) offset += row_length(r, mean);
  return offset;
}

// Makes a matrix whose values are given: row r's elements are spread over as many strata of the columns, one in each at
// a place that looks random.
extern "C" __global__ void spmv_matrix(int* row_start, int* columns, int rows, int mean) {
  int const row = global_thread();
  if (row > rows) return;
  int const start = row_offset(row, mean);
  row_start[row] = start;
  if (row == rows) return;
  int const length = row_length(row, mean);
  for (int i = 0; i < length; ++i) {
    int const low = (int)((long long)rows * i / length), high = (int)((long long)rows * (i + 1) / length);
    unsigned const mixed = ((unsigned)row * 2654435761u) ^ ((unsigned)i * 2246822519u);
    columns[start + i] = low + (int)((mixed >> 7) % (unsigned)(high - low));
  }
}

extern "C" __global__ void spmv_to_ellpackr(real const* values, int const* columns, int const* row_start,
                                            real* ell_values, int* ell_columns, int* lengths, int rows) {
  int const row = global_thread();
  if (row >= rows) return;
  int const start = row_start[row], length = row_start[row + 1] - start;
  lengths[row] = length;
  for (int i = 0; i < length; ++i) {
    ell_values[i * rows + row] = values[start + i];
    ell_columns[i * rows + row] = columns[start + i];
  }
}

extern "C" __global__ void spmv_csr_scalar(real const* values, int const* columns, int const* row_start,
                                           real const* vector, real* result, int rows) {
  int const row = global_thread();
  if (row >= rows) return;
  real sum = 0;
  for (int i = row_start[row]; i < row_start[row + 1]; ++i) sum += values[i] * vector[columns[i]];
  result[row] = sum;
}

extern "C" __global__ void __launch_bounds__(threads)
    spmv_csr_vector(real const* values, int const* columns, int const* row_start, real const* vector, real* result,
                    int rows) {
  __shared__ real sums[threads];
  int const item = threadIdx.x;
  int const lane = item % row_threads;
  int const row = global_thread() / row_threads;
  real sum = 0;
  if (row < rows)
    for (int i = row_start[row] + lane; i < row_start[row + 1]; i += row_threads) sum += values[i] * vector[columns[i]];
  sums[item] = sum;
  __syncthreads();
  for (int active = row_threads / 2; active > 0; active /= 2) {
    if (lane < active) sums[item] += sums[item + active];
    __syncthreads();
  }
  if (lane == 0 && row < rows) result[row] = sums[item];
}

extern "C" __global__ void spmv_ellpackr(real const* ell_values, int const* ell_columns, int const* lengths,
                                         real const* vector, real* result, int rows) {
  int const row = global_thread();
  if (row >= rows) return;
  int const length = lengths[row];
  real sum = 0;
  for (int i = 0; i < length; ++i) sum += ell_values[i * rows + row] * vector[ell_columns[i * rows + row]];
  result[row] = sum;
}
