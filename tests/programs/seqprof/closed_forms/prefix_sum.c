// kernel prefix_sum
// depth 49
// sync 0
// flop 49
// One chain; the loop is sequential, and nothing inside it is parallel.
#include <stdio.h>
enum { n = 50 };
double x[n];
void prefix_sum(void) {
  for (int i = 1; i < n; i++) x[i] += x[i - 1];
}
int main(void) {
  for (int i = 0; i < n; i++) x[i] = i;
  prefix_sum();
  printf("%g\n", x[n - 1]);
}
