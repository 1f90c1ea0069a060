/* SRAD: speckle-reducing anisotropic diffusion of an image. Arguments: n iterations side of the region whose statistics
   steer the diffusion. */
#include "input.h"

void srad(double* image, double* coefficient, double* dn, double* ds, double* dw, double* de, int n, int iterations,
          int region, double lambda) {
  for (int t = 0; t < iterations; t++) {
    double sum = 0, sum2 = 0;
    for (int y = 0; y < region; y++)
      for (int x = 0; x < region; x++) {
        double const v = image[y * n + x];
        sum += v;
        sum2 += v * v;
      }
    double const mean = sum / (region * region), variance = sum2 / (region * region) - mean * mean;
    double const q0 = variance / (mean * mean);
    for (int y = 0; y < n; y++)
      for (int x = 0; x < n; x++) {
        int const at = y * n + x;
        double const v = image[at];
        dn[at] = image[(y > 0 ? y - 1 : y) * n + x] - v;
        ds[at] = image[(y < n - 1 ? y + 1 : y) * n + x] - v;
        dw[at] = image[y * n + (x > 0 ? x - 1 : x)] - v;
        de[at] = image[y * n + (x < n - 1 ? x + 1 : x)] - v;
        double const g2 = (dn[at] * dn[at] + ds[at] * ds[at] + dw[at] * dw[at] + de[at] * de[at]) / (v * v);
        double const l = (dn[at] + ds[at] + dw[at] + de[at]) / v;
        double const denominator = 1 + 0.25 * l;
        double const q2 = (0.5 * g2 - 1.0 / 16 * l * l) / (denominator * denominator);
        double const c = 1 / (1 + (q2 - q0) / (q0 * (1 + q0)));
        coefficient[at] = c < 0 ? 0 : c > 1 ? 1 : c;
      }
    for (int y = 0; y < n; y++)
      for (int x = 0; x < n; x++) {
        int const at = y * n + x;
        double const here = coefficient[at], south = coefficient[(y < n - 1 ? y + 1 : y) * n + x];
        double const east = coefficient[y * n + (x < n - 1 ? x + 1 : x)];
        image[at] += 0.25 * lambda * (here * dn[at] + south * ds[at] + here * dw[at] + east * de[at]);
      }
  }
}

int main(int argc, char** argv) {
  int const n = input_size(argc, argv, 1, 512);
  size_t const cells = (size_t)n * n;
  double* const image = input_doubles(cells);
  for (size_t i = 0; i < cells; i++) image[i] = 1 + image[i];
  double* const rest = malloc(5 * cells * sizeof *rest);
  srad(image, rest, rest + cells, rest + 2 * cells, rest + 3 * cells, rest + 4 * cells, n, input_size(argc, argv, 2, 2),
       input_size(argc, argv, 3, 128), 0.5);
  output_sum(image, cells);
  return 0;
}
