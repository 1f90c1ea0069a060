// kernel shift
// depth 1
// sync 0
// all depth 1
// all sync 23
// flop 744
// Rows move up by one: each overwrites what the row before has read.
#include <stdio.h>
enum { rows = 24, columns = 31 };
double a[rows + 1][columns];
void shift(int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < columns; j++) a[i][j] = 0.5 * a[i + 1][j];
}
int main(void) {
  for (int i = 0; i <= rows; i++)
    for (int j = 0; j < columns; j++) a[i][j] = i + j;
  shift(rows);
  printf("%g %g\n", a[0][0], a[rows - 1][columns - 1]);
  return 0;
}
