// Sparse matrix times vector, result = matrix * vector, in three formats: compressed rows with one work-item per row,
// compressed rows with 32 work-items per row, and ELLPACK-R.
//
// Row r of a compressed matrix has elements row_start[r] ... row_start[r + 1] - 1 of values and columns. ELLPACK-R
// keeps element i of row r at i * rows + r, so that the work-items of a group read neighbouring elements, and the rows'
// lengths. Groups of 128. -DDOUBLE=1: double precision.
#if DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
#else
typedef float real;
#endif

#define ITEMS 128
#define ROW_ITEMS 32

// Lengths differ by up to 10 elements between the eight rows of a period and are `mean` on average. mean > 5.
int row_length(int row, int mean) {
  return mean + (int)((0x0763a158u >> (4 * (row & 7))) & 15) - 5;
}
int row_offset(int row, int mean) {
  int offset = mean * (row & ~7);
  for (int r = row & ~7; r < row; ++r) offset += row_length(r, mean);
  return offset;
}

// Makes a matrix whose values are given: row r's elements are spread over as many strata of the columns, one in each at
// a place that looks random.
__kernel void spmv_matrix(__global int* row_start, __global int* columns, int const rows, int const mean) {
  int const row = get_global_id(0);
  if (row > rows) return;
  int const start = row_offset(row, mean);
  row_start[row] = start;
  if (row == rows) return;
  int const length = row_length(row, mean);
  for (int i = 0; i < length; ++i) {
    int const low = (int)((long)rows * i / length), high = (int)((long)rows * (i + 1) / length);
    uint const mixed = ((uint)row * 2654435761u) ^ ((uint)i * 2246822519u);
    columns[start + i] = low + (int)((mixed >> 7) % (uint)(high - low));
  }
}

__kernel void spmv_to_ellpackr(__global real const* values, __global int const* columns, __global int const* row_start,
                               __global real* ell_values, __global int* ell_columns, __global int* lengths,
                               int const rows) {
  int const row = get_global_id(0);
  if (row >= rows) return;
  int const start = row_start[row], length = row_start[row + 1] - start;
  lengths[row] = length;
  for (int i = 0; i < length; ++i) {
    ell_values[i * rows + row] = values[start + i];
    ell_columns[i * rows + row] = columns[start + i];
  }
}

__kernel void spmv_csr_scalar(__global real const* values, __global int const* columns, __global int const* row_start,
                              __global real const* vector, __global real* result, int const rows) {
  int const row = get_global_id(0);
  if (row >= rows) return;
  real sum = 0;
  for (int i = row_start[row]; i < row_start[row + 1]; ++i) sum += values[i] * vector[columns[i]];
  result[row] = sum;
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void spmv_csr_vector(
    __global real const* values, __global int const* columns, __global int const* row_start,
    __global real const* vector, __global real* result, int const rows) {
  __local real sums[ITEMS];
  int const item = get_local_id(0);
  int const lane = item % ROW_ITEMS;
  int const row = get_global_id(0) / ROW_ITEMS;
  real sum = 0;
  if (row < rows)
    for (int i = row_start[row] + lane; i < row_start[row + 1]; i += ROW_ITEMS) sum += values[i] * vector[columns[i]];
  sums[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int active = ROW_ITEMS / 2; active > 0; active /= 2) {
    if (lane < active) sums[item] += sums[item + active];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lane == 0 && row < rows) result[row] = sums[item];
}

__kernel void spmv_ellpackr(__global real const* ell_values, __global int const* ell_columns,
                            __global int const* lengths, __global real const* vector, __global real* result,
                            int const rows) {
  int const row = get_global_id(0);
  if (row >= rows) return;
  int const length = lengths[row];
  real sum = 0;
  for (int i = 0; i < length; ++i) sum += ell_values[i * rows + row] * vector[ell_columns[i * rows + row]];
  result[row] = sum;
}
