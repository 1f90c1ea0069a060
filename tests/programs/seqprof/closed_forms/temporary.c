// kernel temporary
// depth 2
// all depth 65
// flop 128
// One place in memory for all iterations: an iteration's product waits until the sum before it has read its own.
#include <stdio.h>
#include <stdlib.h>
void temporary(double* y, double const* x, double* place, int n) {
  for (int i = 0; i < n; i++) {
    *place = x[i] * 2;
    y[i] = 0;
    y[i] = *place + 1;
  }
}
int main(void) {
  double x[64], y[64];
  double* const place = malloc(sizeof *place);
  for (int i = 0; i < 64; i++) x[i] = i;
  temporary(y, x, place, 64);
  printf("%g %g\n", y[0], y[63]);
  return 0;
}
