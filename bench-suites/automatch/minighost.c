/* A code like MiniGhost: one global 3D grid with a layer of ghosts, explicit time steps of a 7-point average; the ghosts
   are set from the grid before each step. Arguments: n steps. */
#include "input.h"

static size_t at(int n, int x, int y, int z) { return x + (size_t)(n + 2) * (y + (size_t)(n + 2) * z); }

void minighost(double* a, double* b, int n, int steps) {
  for (int t = 0; t < steps; t++) {
    for (int j = 1; j <= n; j++)
      for (int i = 1; i <= n; i++) {
        a[at(n, 0, i, j)] = a[at(n, 1, i, j)];
        a[at(n, n + 1, i, j)] = a[at(n, n, i, j)];
        a[at(n, i, 0, j)] = a[at(n, i, 1, j)];
        a[at(n, i, n + 1, j)] = a[at(n, i, n, j)];
        a[at(n, i, j, 0)] = a[at(n, i, j, 1)];
        a[at(n, i, j, n + 1)] = a[at(n, i, j, n)];
      }
    for (int z = 1; z <= n; z++)
      for (int y = 1; y <= n; y++)
        for (int x = 1; x <= n; x++)
          b[at(n, x, y, z)] = (a[at(n, x, y, z - 1)] + a[at(n, x, y - 1, z)] + a[at(n, x - 1, y, z)] + a[at(n, x, y, z)] +
                               a[at(n, x + 1, y, z)] + a[at(n, x, y + 1, z)] + a[at(n, x, y, z + 1)]) /
                              7;
    double* const swapped = a;
    a = b;
    b = swapped;
  }
}

int main(int argc, char** argv) {
  int const n = input_size(argc, argv, 1, 128);
  size_t const cells = (size_t)(n + 2) * (n + 2) * (n + 2);
  double *const a = input_doubles(cells), *const b = calloc(cells, sizeof *b);
  minighost(a, b, n, input_size(argc, argv, 2, 2));
  output_sum(a, cells);
  return 0;
}
