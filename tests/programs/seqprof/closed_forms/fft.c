// kernel fft
// depth 15
// sync 4
// flop 800
// log2 n stages of 3 levels and n / 2 butterflies of 10 operations; a barrier between stages.
#include <stdio.h>
enum { n = 32 };
double re[n], im[n], wr[n] = {1}, wi[n];
void fft(void) {
  for (int half = 1; half < n; half *= 2)
    for (int block = 0; block < n; block += 2 * half)
      for (int k = 0; k < half; k++) {
        int const a = block + k, b = a + half, t = k * (n / 2 / half);
        double const xr = re[b] * wr[t] - im[b] * wi[t], xi = re[b] * wi[t] + im[b] * wr[t];
        re[b] = re[a] - xr;
        im[b] = im[a] - xi;
        re[a] = re[a] + xr;
        im[a] = im[a] + xi;
      }
}
int main(void) {
  for (int i = 0; i < n; i++) re[i] = i % 3, im[i] = i % 5, wr[i] = 0.5, wi[i] = 0.25;
  fft();
  printf("%g %g\n", re[3], im[5]);
}
