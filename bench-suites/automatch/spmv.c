/* SPMV: y = A x, A in compressed rows. Arguments: rows, products. The matrix has the shape of Dubcova3 (a 2D
   finite-element problem): 146689 rows, 3.6 million entries, at most 49 and on average 25 in a row, symmetric band of
   sqrt(n) with a few entries far from it. */
#include <math.h>

#include "input.h"

void spmv(int n, int const* row, int const* column, double const* value, double const* x, double* y, int products) {
  for (int t = 0; t < products; t++)
    for (int i = 0; i < n; i++) {
      int const end = row[i + 1];
      double sum = 0;
      for (int k = row[i]; k < end; k++) sum += value[k] * x[column[k]];
      y[i] = sum;
    }
}

static int entries_of(int i) { return i % 16 == 0 ? 49 : i % 4 == 1 ? 13 : 25 + (i % 3 - 1) * 2; }

int main(int argc, char** argv) {
  int const n = input_size(argc, argv, 1, 146689);
  int const side = (int)sqrt((double)n);
  int* const row = malloc((n + 1) * sizeof *row);
  row[0] = 0;
  for (int i = 0; i < n; i++) row[i + 1] = row[i] + entries_of(i);
  int* const column = malloc(row[n] * sizeof *column);
  for (int i = 0; i < n; i++)
    for (int k = row[i]; k < row[i + 1]; k++) {
      int const step = k - row[i] - entries_of(i) / 2;
      long at = i + step % 7 + (long)(step / 7) * side;
      if (input_random() < 0.02) at = (long)(input_random() * n);
      column[k] = at < 0 ? 0 : at >= n ? n - 1 : (int)at;
    }
  double *const value = input_doubles(row[n]), *const x = input_doubles(n), *const y = malloc(n * sizeof *y);
  spmv(n, row, column, value, x, y, input_size(argc, argv, 2, 1));
  output_sum(y, n);
  return 0;
}
