/* LUD: LU decomposition of a dense matrix in place, Doolittle's form, no pivoting. Argument: n. */
#include "input.h"

void lud(double* a, int n) {
  for (int i = 0; i < n; i++) {
    for (int j = i; j < n; j++) {
      double sum = a[i * n + j];
      for (int k = 0; k < i; k++) sum -= a[i * n + k] * a[k * n + j];
      a[i * n + j] = sum;
    }
    for (int j = i + 1; j < n; j++) {
      double sum = a[j * n + i];
      for (int k = 0; k < i; k++) sum -= a[j * n + k] * a[k * n + i];
      a[j * n + i] = sum / a[i * n + i];
    }
  }
}

int main(int argc, char** argv) {
  int const n = input_size(argc, argv, 1, 512);
  double* const a = input_doubles((size_t)n * n);
  for (int i = 0; i < n; i++) a[i * n + i] += n;
  lud(a, n);
  output_sum(a, (size_t)n * n);
  return 0;
}
