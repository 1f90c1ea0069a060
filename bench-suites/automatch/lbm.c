/* LBM: lid-driven cavity by the lattice-Boltzmann method, D3Q19, BGK collision, pull scheme with two lattices,
   half-way bounce-back at the walls. Arguments: nx ny nz steps. Directions lie apart from each other in memory. */
#include <string.h>

#include "input.h"

enum { Q = 19 };
static int const cx[Q] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0};
static int const cy[Q] = {0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1};
static int const cz[Q] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1};
static int const opposite[Q] = {0, 2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11, 14, 13, 16, 15, 18, 17};
static double const weight[Q] = {1. / 3,  1. / 18, 1. / 18, 1. / 18, 1. / 18, 1. / 18, 1. / 18, 1. / 36, 1. / 36, 1. / 36,
                                 1. / 36, 1. / 36, 1. / 36, 1. / 36, 1. / 36, 1. / 36, 1. / 36, 1. / 36, 1. / 36};

void lbm(double* from, double* to, int nx, int ny, int nz, int steps, double omega, double lid) {
  size_t const cells = (size_t)nx * ny * nz;
  for (int t = 0; t < steps; t++) {
    for (int z = 0; z < nz; z++)
      for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x++) {
          size_t const at = x + (size_t)nx * (y + (size_t)ny * z);
          double f[Q];
          for (int q = 0; q < Q; q++) {
            int const sx = x - cx[q], sy = y - cy[q], sz = z - cz[q];
            int const wall = sx < 0 || sx >= nx || sy < 0 || sy >= ny || sz < 0 || sz >= nz;
            if (wall)
              f[q] = from[opposite[q] * cells + at] + (sz >= nz ? 6 * weight[q] * cx[q] * lid : 0.0);
            else
              f[q] = from[q * cells + sx + (size_t)nx * (sy + (size_t)ny * sz)];
          }
          double rho = 0, ux = 0, uy = 0, uz = 0;
          for (int q = 0; q < Q; q++) {
            rho += f[q];
            ux += cx[q] * f[q];
            uy += cy[q] * f[q];
            uz += cz[q] * f[q];
          }
          ux /= rho;
          uy /= rho;
          uz /= rho;
          double const square = 1.5 * (ux * ux + uy * uy + uz * uz);
          for (int q = 0; q < Q; q++) {
            double const cu = 3 * (cx[q] * ux + cy[q] * uy + cz[q] * uz);
            double const equilibrium = weight[q] * rho * (1 + cu + 0.5 * cu * cu - square);
            to[q * cells + at] = f[q] + omega * (equilibrium - f[q]);
          }
        }
    double* const swapped = from;
    from = to;
    to = swapped;
  }
}

int main(int argc, char** argv) {
  int const nx = input_size(argc, argv, 1, 120), ny = input_size(argc, argv, 2, 120), nz = input_size(argc, argv, 3, 150);
  size_t const cells = (size_t)nx * ny * nz;
  double *const a = malloc(Q * cells * sizeof *a), *const b = malloc(Q * cells * sizeof *b);
  for (int q = 0; q < Q; q++)
    for (size_t i = 0; i < cells; i++) a[q * cells + i] = weight[q];
  memcpy(b, a, Q * cells * sizeof *a);
  lbm(a, b, nx, ny, nz, input_size(argc, argv, 4, 1), 1.2, 0.05);
  output_sum(b, Q * cells);
  return 0;
}
