/* LUD as lud.c computes it, row by row of the remaining matrix, with the directives of a parallel version: `seqprof --sync
 * source` counts their barriers. Argument: n. */
#include "input.h"

void lud(double* a, int n) {
  for (int k = 0; k < n - 1; k++)
#pragma omp parallel for
    for (int i = k + 1; i < n; i++) {
      double const factor = a[i * n + k] / a[k * n + k];
      a[i * n + k] = factor;
      for (int j = k + 1; j < n; j++) a[i * n + j] -= factor * a[k * n + j];
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
