// OpenMP target: regions of each shape, in two files, by mappings of each kind. Each result is a closed form.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { n = 4096 };
#pragma omp declare target
int offset = 5;
int table[16];
extern int twice(int);  // functions.c
#pragma omp end declare target

static int failures;
static void check(char const* what, double found, double expected) {
  printf("%s %g\n", what, found);
  if (found != expected) printf("FAILED: %s is %g, not %g\n", what, found, expected), ++failures;
}

static void add(double const* x, double* y) {
#pragma omp target teams distribute parallel for map(to : x[0 : n]) map(tofrom : y[0 : n])  // region add
  for (int i = 0; i < n; ++i) y[i] += 2 * x[i];
}

static double sum(double const* x) {
  double total = 0;
#pragma omp target teams distribute parallel for simd reduction(+ : total) map(to : x[0 : n])  // region sum
  for (int i = 0; i < n; ++i) total += x[i];
  return total;
}

static int largest(int const* x) {
  int found = 0;
#pragma omp target parallel for reduction(max : found) map(to : x[0 : n])  // region largest
  for (int i = 0; i < n; ++i) found = x[i] > found ? x[i] : found;
  return found;
}

// Data that stays on the device, changed there and on the host by turns.
static void stay(int* x) {
  for (int i = 0; i < n; ++i) x[i] = i;
#pragma omp target data map(tofrom : x[0 : n])
  {
#pragma omp target teams distribute parallel for  // region stay
    for (int i = 0; i < n; ++i) x[i] = twice(x[i]) + offset;
#pragma omp target update from(x[0 : 8])
    for (int i = 0; i < 8; ++i) x[i] = -x[i];
#pragma omp target update to(x[0 : 8])
#pragma omp target simd  // region stay
    for (int i = 0; i < 8; ++i) x[i] -= 1;
  }
}

static void shared_team(int* sums) {
#pragma omp target teams num_teams(4) thread_limit(64) map(from : sums[0 : 4])  // region shared_team
#pragma omp distribute
  for (int t = 0; t < 4; ++t) {
    int total = 0;
#pragma omp parallel for reduction(+ : total)
    for (int i = 0; i < 100; ++i) total += i * (t + 1);
    sums[t] = total;
  }
}

int main(void) {
  double* x = malloc(n * sizeof *x);
  double* y = malloc(n * sizeof *y);
  int* k = malloc(n * sizeof *k);
  for (int i = 0; i < n; ++i) x[i] = i % 7, y[i] = 1, k[i] = (i * 37) % n;
  add(x, y);
  check("add", y[n - 1], 1 + 2 * ((n - 1) % 7));
  double expected = 0;
  for (int i = 0; i < n; ++i) expected += 1 + 2 * (i % 7);
  check("sum", sum(y), expected);
  check("largest", largest(k), n - 1);
  stay(k);
  double changed = 0;
  for (int i = 0; i < n; ++i) changed += k[i];
  check("stay", changed, (double)n * (n - 1) + 5.0 * n - 2 * (7 * 8 + 5 * 8) - 8);
  int sums[4];
  shared_team(sums);
  for (int t = 0; t < 4; ++t) check("shared_team", sums[t], 4950 * (t + 1));

  for (int i = 0; i < 16; ++i) table[i] = i * i;
  offset = 7;
#pragma omp target update to(table, offset)
  int from_table = 0;
#pragma omp target map(tofrom : from_table)  // region main
  {
    from_table = offset;
    for (int i = 0; i < 16; ++i) from_table += table[i];
    printf("on the device: %d and %s, %.2f\n", from_table, "a word", 0.5 * offset);
  }
  check("table", from_table, 7 + 15 * 16 * 31 / 6);

  int first = 0, second = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp target nowait map(tofrom : first) depend(out : first)  // region main
    first = 3;
#pragma omp target nowait map(tofrom : second) map(to : first) depend(in : first) depend(out : second)  // region main
    second = first + 4;
#pragma omp taskwait
  }
  check("nowait", 10 * first + second, 37);
  free(x), free(y), free(k);
  return failures != 0;
}
