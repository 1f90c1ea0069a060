// OpenMP target: parts of an array one after another, by tasks and by threads of the host. Each result is a closed
// form.
#include <stdio.h>
#include <string.h>

enum { parts = 8, n = 512 };

static int failures;
static void check(char const* what, int x[parts][n], int factor) {
  int wrong = 0;
  for (int p = 0; p < parts; ++p)
    for (int i = 0; i < n; ++i) wrong += x[p][i] != factor * (p + 1);
  printf("%s: %d wrong\n", what, wrong);
  failures += wrong;
}

// Every part is at the same place on the device, one after another, and the kernel gets another place as the array's.
static void one_after_another(int x[parts][n]) {
  for (int p = 0; p < parts; ++p)
#pragma omp target teams distribute parallel for map(tofrom : x[p : 1][0 : n])  // region one_after_another
    for (int i = 0; i < n; ++i) x[p][i] += p + 1;
}

static void by_tasks(int x[parts][n]) {
#pragma omp target data map(tofrom : x[0 : parts][0 : n])
  {
    for (int p = 0; p < parts; ++p)
#pragma omp target teams distribute parallel for nowait depend(out : x[p])  // region by_tasks
      for (int i = 0; i < n; ++i) x[p][i] += 1;
    for (int p = 0; p < parts; ++p)
#pragma omp target teams distribute parallel for nowait depend(inout : x[p])  // region by_tasks
      for (int i = 0; i < n; ++i) x[p][i] *= p + 1;
#pragma omp taskwait
  }
}

static void by_threads(int x[parts][n]) {
#pragma omp parallel for num_threads(4)
  for (int p = 0; p < parts; ++p)
#pragma omp target map(tofrom : x[p : 1][0 : n])
    for (int i = 0; i < n; ++i) x[p][i] += p + 1;
}

int main(void) {
  static int x[parts][n];
  one_after_another(x);
  check("one after another", x, 1);
  one_after_another(x);
  check("once more", x, 2);
  memset(x, 0, sizeof x);
  by_tasks(x);
  check("by tasks", x, 1);
  memset(x, 0, sizeof x);
  by_threads(x);
  check("by threads", x, 1);
  return failures != 0;
}
