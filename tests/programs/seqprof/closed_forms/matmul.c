// kernel matmul
// depth 13
// sync 0
// flop 3456
// n + 1 levels: the products, then a chain of n additions.
#include <stdio.h>
enum { n = 12 };
double a[n][n], b[n][n], c[n][n];
void matmul(void) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += a[i][k] * b[k][j];
      c[i][j] = sum;
    }
}
int main(void) {
  for (int i = 0; i < n * n; i++) a[0][i] = i % 5, b[0][i] = i % 7;
  matmul();
  printf("%g\n", c[3][4]);
}
