/* HotSpot: temperature of a chip from the power of its cells, explicit steps on a 2D grid. Arguments: n steps. */
#include "input.h"

void hotspot(double* now, double* next, double const* power, int n, int steps, double step_over_c, double rx, double ry,
             double rz, double ambient) {
  for (int t = 0; t < steps; t++) {
    for (int y = 0; y < n; y++)
      for (int x = 0; x < n; x++) {
        double const here = now[y * n + x];
        double const north = now[(y > 0 ? y - 1 : y) * n + x], south = now[(y < n - 1 ? y + 1 : y) * n + x];
        double const west = now[y * n + (x > 0 ? x - 1 : x)], east = now[y * n + (x < n - 1 ? x + 1 : x)];
        next[y * n + x] = here + step_over_c * (power[y * n + x] + (south + north - 2 * here) * ry +
                                                (east + west - 2 * here) * rx + (ambient - here) * rz);
      }
    double* const swapped = now;
    now = next;
    next = swapped;
  }
}

int main(int argc, char** argv) {
  int const n = input_size(argc, argv, 1, 1024);
  double *const a = input_doubles((size_t)n * n), *const power = input_doubles((size_t)n * n);
  double* const b = malloc((size_t)n * n * sizeof *b);
  for (int i = 0; i < n * n; i++) a[i] = 323 + a[i];
  hotspot(a, b, power, n, input_size(argc, argv, 2, 4), 0.01, 0.1, 0.1, 0.001, 353);
  output_sum(a, (size_t)n * n);
  return 0;
}
