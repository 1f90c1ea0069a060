/* LavaMD: potential and forces between particles of neighbouring boxes in 3D space. Arguments: boxes along a side,
   particles of a box. */
#include <math.h>
#include <string.h>

#include "input.h"

typedef struct {
  double v, x, y, z;
} Vector;

void lavamd(int side, int particles, double alpha, Vector const* position, double const* charge, Vector* force) {
  double const a2 = 2 * alpha * alpha;
  for (int box = 0; box < side * side * side; box++) {
    int const bx = box % side, by = box / side % side, bz = box / side / side;
    for (int z = bz - 1; z <= bz + 1; z++)
      for (int y = by - 1; y <= by + 1; y++)
        for (int x = bx - 1; x <= bx + 1; x++) {
          if (x < 0 || y < 0 || z < 0 || x >= side || y >= side || z >= side) continue;
          size_t const own = (size_t)box * particles;
          size_t const other = ((size_t)(z * side + y) * side + x) * particles;
          for (int i = 0; i < particles; i++) {
            Vector const p = position[own + i];
            Vector f = force[own + i];
            for (int j = 0; j < particles; j++) {
              Vector const o = position[other + j];
              double const r2 = p.v + o.v - (p.x * o.x + p.y * o.y + p.z * o.z);
              double const vij = exp(-a2 * r2), fs = 2 * vij, q = charge[other + j];
              f.v += q * vij;
              f.x += q * (fs * (p.x - o.x));
              f.y += q * (fs * (p.y - o.y));
              f.z += q * (fs * (p.z - o.z));
            }
            force[own + i] = f;
          }
        }
  }
}

int main(int argc, char** argv) {
  int const side = input_size(argc, argv, 1, 10), particles = input_size(argc, argv, 2, 100);
  size_t const n = (size_t)side * side * side * particles;
  Vector* const position = (Vector*)input_doubles(4 * n);
  double* const charge = input_doubles(n);
  Vector* const force = calloc(n, sizeof *force);
  lavamd(side, particles, 0.5, position, charge, force);
  output_sum((double*)force, 4 * n);
  return 0;
}
