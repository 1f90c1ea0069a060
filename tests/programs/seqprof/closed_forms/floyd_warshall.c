// kernel floyd_warshall
// depth 9
// sync 9
// flop 1000
// On a path graph each k adds one level to the way from the first node; k is sequential, i and j are parallel.
#include <stdio.h>
enum { n = 10 };
double d[n][n];
void floyd_warshall(void) {
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        double const through = d[i][k] + d[k][j];
        if (through < d[i][j]) d[i][j] = through;
      }
}
int main(void) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) d[i][j] = i == j ? 0 : j == i + 1 ? 1 : 1000;
  floyd_warshall();
  printf("%g\n", d[0][n - 1]);
}
