/* CUTCP: Coulombic potential of a box of water on a 3D lattice, with a cutoff. Arguments: side of the box and of the
   cutoff in Angstrom. Three atoms per molecule of water, one molecule in 30 cubic Angstrom, lattice of 0.5 Angstrom. */
#include <math.h>

#include "input.h"

void cutcp(int atoms, double const* x, double const* y, double const* z, double const* charge, double* lattice, int n,
           double spacing, double cutoff) {
  double const cutoff2 = cutoff * cutoff, inverse2 = 1 / cutoff2;
  for (int a = 0; a < atoms; a++) {
    int const low_z = fmax(0, ceil((z[a] - cutoff) / spacing)), high_z = fmin(n - 1, floor((z[a] + cutoff) / spacing));
    int const low_y = fmax(0, ceil((y[a] - cutoff) / spacing)), high_y = fmin(n - 1, floor((y[a] + cutoff) / spacing));
    int const low_x = fmax(0, ceil((x[a] - cutoff) / spacing)), high_x = fmin(n - 1, floor((x[a] + cutoff) / spacing));
    for (int k = low_z; k <= high_z; k++) {
      double const dz = k * spacing - z[a], dz2 = dz * dz;
      for (int j = low_y; j <= high_y; j++) {
        double const dy = j * spacing - y[a], dyz2 = dy * dy + dz2;
        if (dyz2 >= cutoff2) continue;
        for (int i = low_x; i <= high_x; i++) {
          double const dx = i * spacing - x[a], r2 = dx * dx + dyz2;
          if (r2 >= cutoff2) continue;
          double const s = 1 - r2 * inverse2;
          lattice[i + (size_t)n * (j + (size_t)n * k)] += charge[a] * (1 / sqrt(r2)) * s * s;
        }
      }
    }
  }
}

int main(int argc, char** argv) {
  double const side = input_size(argc, argv, 1, 40), cutoff = input_size(argc, argv, 2, 12), spacing = 0.5;
  int const molecules = side * side * side / 30, atoms = 3 * molecules, n = side / spacing;
  double *const x = input_doubles(atoms), *const y = input_doubles(atoms), *const z = input_doubles(atoms);
  double* const charge = malloc(atoms * sizeof *charge);
  for (int m = 0; m < molecules; m++) {
    double const ox = x[3 * m] * side, oy = y[3 * m] * side, oz = z[3 * m] * side;
    for (int i = 0; i < 3; i++) {
      int const a = 3 * m + i;
      x[a] = ox + (i == 1 ? 0.96 : i == 2 ? -0.24 : 0.0);
      y[a] = oy + (i == 2 ? 0.93 : 0.0);
      z[a] = oz;
      charge[a] = i == 0 ? -0.82 : 0.41;
    }
  }
  double* const lattice = calloc((size_t)n * n * n, sizeof *lattice);
  cutcp(atoms, x, y, z, charge, lattice, n, spacing, cutoff);
  output_sum(lattice, (size_t)n * n * n);
  return 0;
}
