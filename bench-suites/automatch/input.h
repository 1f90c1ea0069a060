/* Deterministic inputs: the same numbers on every machine. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t input_state = 1;

/* In [0, 1). */
static inline double input_random(void) {
  input_state = input_state * 6364136223846793005u + 1442695040888963407u;
  return (double)(input_state >> 11) / 9007199254740992.0;
}

static inline double* input_doubles(size_t n) {
  double* const p = malloc(n * sizeof *p);
  if (!p) exit(9);
  for (size_t i = 0; i < n; i++) p[i] = input_random();
  return p;
}

/* Argument number i, or a default. */
static inline int input_size(int argc, char** argv, int i, int otherwise) {
  return i < argc ? atoi(argv[i]) : otherwise;
}

static inline void output_sum(double const* p, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += p[i];
  printf("%.17g\n", sum);
}
