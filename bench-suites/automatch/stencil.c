/* STENCIL: Jacobi iterations of a 7-point stencil on a 3D grid. Arguments: nx ny nz iterations. */
#include "input.h"

static void sweep(double c0, double c1, double const* a, double* b, int nx, int ny, int nz) {
  for (int z = 1; z < nz - 1; z++)
    for (int y = 1; y < ny - 1; y++)
      for (int x = 1; x < nx - 1; x++) {
        size_t const at = x + (size_t)nx * (y + (size_t)ny * z);
        size_t const row = nx, plane = (size_t)nx * ny;
        b[at] = (a[at + plane] + a[at - plane] + a[at + row] + a[at - row] + a[at + 1] + a[at - 1]) * c1 - a[at] * c0;
      }
}

void stencil(double* a, double* b, int nx, int ny, int nz, int iterations) {
  for (int t = 0; t < iterations; t++) {
    sweep(1.0 / 6, 1.0 / 36, a, b, nx, ny, nz);
    double* const swapped = a;
    a = b;
    b = swapped;
  }
}

int main(int argc, char** argv) {
  int const nx = input_size(argc, argv, 1, 512), ny = input_size(argc, argv, 2, 512), nz = input_size(argc, argv, 3, 64);
  size_t const n = (size_t)nx * ny * nz;
  double *const a = input_doubles(n), *const b = malloc(n * sizeof *b);
  for (size_t i = 0; i < n; i++) b[i] = a[i];
  stencil(a, b, nx, ny, nz, input_size(argc, argv, 4, 2));
  output_sum(a, n);
  return 0;
}
