// kernel triangular_solve
// depth 58
// sync 19
// flop 400
// 3 (n - 1) + 1 levels: each unknown waits for the one before, by a product, a subtraction and a division.
#include <stdio.h>
enum { n = 20 };
double l[n][n], b[n], x[n];
void triangular_solve(void) {
  for (int i = 0; i < n; i++) {
    double s = b[i];
    for (int j = 0; j < i; j++) s -= l[i][j] * x[j];
    x[i] = s / l[i][i];
  }
}
int main(void) {
  for (int i = 0; i < n; i++) {
    b[i] = i;
    for (int j = 0; j <= i; j++) l[i][j] = 1 + (i + j) % 3;
  }
  triangular_solve();
  printf("%g\n", x[n - 1]);
}
