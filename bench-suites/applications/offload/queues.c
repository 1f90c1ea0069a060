// OpenACC: queues that run beside each other, data that stays on the device, gangs, workers and vectors.
#include <stdio.h>
#include <stdlib.h>

enum { n = 3000, parts = 3 };

static int failures;
static void check(char const* what, double found, double expected) {
  printf("%s %g\n", what, found);
  if (found != expected) printf("FAILED: %s is %g, not %g\n", what, found, expected), ++failures;
}

#pragma acc routine seq
static int square(int x) {
  return x * x;
}

static void in_queues(int* x) {
#pragma acc data create(x[0 : n * parts])
  {
    for (int p = 0; p < parts; ++p) {
#pragma acc update device(x[p * n : n]) async(p)
#pragma acc parallel loop present(x[0 : n * parts]) async(p)  // region in_queues
      for (int i = p * n; i < (p + 1) * n; ++i) x[i] = square(x[i] % 10) + p;
#pragma acc update self(x[p * n : n]) async(p)
    }
#pragma acc wait
  }
}

static double nested(float const* m, int rows, int columns) {
  double total = 0;
#pragma acc parallel loop gang num_gangs(8) num_workers(4) vector_length(32) reduction(+ : total) copyin(m[0 : rows * columns])  // region nested
  for (int r = 0; r < rows; ++r) {
    double row = 0;
#pragma acc loop worker vector reduction(+ : row)
    for (int c = 0; c < columns; ++c) row += m[r * columns + c];
    total += row * (r + 1);
  }
  return total;
}

int main(void) {
  int* x = malloc(n * parts * sizeof *x);
  double expected = 0;
  for (int i = 0; i < n * parts; ++i) {
    x[i] = i;
    expected += (i % 10) * (i % 10) + i / n;
  }
  in_queues(x);
  double found = 0;
  for (int i = 0; i < n * parts; ++i) found += x[i];
  check("in_queues", found, expected);

  enum { rows = 24, columns = 200 };
  float* m = malloc(rows * columns * sizeof *m);
  for (int i = 0; i < rows * columns; ++i) m[i] = 0.5f;
  check("nested", nested(m, rows, columns), 0.5 * columns * rows * (rows + 1) / 2);

  int last = 0;
#pragma acc kernels copy(last) copyin(m[0 : rows * columns])  // region main
  {
    for (int i = 0; i < rows * columns; ++i) last += m[i] > 0;
  }
  check("kernels", last, rows * columns);
  free(x), free(m);
  return failures != 0;
}
