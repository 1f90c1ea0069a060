// Three sweeps over so many megabytes; a value depends on itself alone, so that levels, at 8 bytes each, are few.
#include <stdlib.h>
void kernel(TYPE* a, size_t n) {
  for (int sweep = 0; sweep < 3; sweep++)
    for (size_t i = 0; i < n; i++) a[i] = (TYPE)0.25 * (a[i] + (TYPE)i);
}
int main(int argc, char** argv) {
  size_t const n = (argc > 1 ? strtoul(argv[1], 0, 10) : 1) * 1000000 / sizeof(TYPE);
  TYPE* const a = malloc(n * sizeof *a);
  for (size_t i = 0; i < n; i++) a[i] = (TYPE)i;
  kernel(a, n);
  return a[n / 2] < 0;
}
