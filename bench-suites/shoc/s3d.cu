// Rates of chemical reactions in every cell of a flow, as a combustion code computes them: seven kernels in a row, full
// of exponentials, logarithms and powers. Species and reactions: s3d_mechanism.h.
//
// One thread per cell; quantity q of a cell stands at [q * cells + cell]. Inputs are in [0, 1): the temperature is
// 1000 K + 1500 K * temperature, the pressure 1 bar + 9 bar * pressure; mass fractions are scaled to a sum of 1. Any
// blocks; the suite uses 128. -DDOUBLE=1: double precision.
#if DOUBLE
using real = double;
#define REAL(x) x
#else
using real = float;
#define REAL(x) x##f
#endif

#include "s3d_mechanism.h"

#define GAS_CONSTANT REAL(8.314e7)     // erg / (mol K)
#define STANDARD_PRESSURE REAL(1.0e6)  // dyn / cm^2, 1 bar
#define AT(array, q) array[(q) * global_threads() + global_thread()]

__device__ unsigned global_thread() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ unsigned global_threads() {
  return gridDim.x * blockDim.x;
}

__device__ real kelvin(real const* temperature) {
  return REAL(1000.0) + REAL(1500.0) * temperature[global_thread()];
}

// The product of one or two species' quantities.
#define PAIR(array, a, b) ((b) == NONE ? AT(array, a) : AT(array, a) * AT(array, b))

// Concentrations in mol / cm^3.
extern "C" __global__ void s3d_concentrations(real const* temperature, real const* pressure, real const* fractions,
                                              real* molar) {
  real const total =
      STANDARD_PRESSURE * (REAL(1.0) + REAL(9.0) * pressure[global_thread()]) / (GAS_CONSTANT * kelvin(temperature));
  real sum = 0;
#define ADD(s, mass, a0, a1, a2, a5, a6) sum += AT(fractions, s) / mass;
  S3D_SPECIES(ADD)
#define STORE(s, mass, a0, a1, a2, a5, a6) AT(molar, s) = total * (AT(fractions, s) / mass) / sum;
  S3D_SPECIES(STORE)
}

// e^(-G / RT) of every species.
extern "C" __global__ void s3d_equilibrium(real const* temperature, real* equilibrium) {
  real const t = kelvin(temperature);
  real const log_t = log(t), inverse_t = 1 / t;
#define GIBBS(s, mass, a0, a1, a2, a5, a6) \
  AT(equilibrium, s) = exp(a6 - a5 * inverse_t - a0 * (REAL(1.0) - log_t) + t * (a1 / 2 + a2 / 6 * t));
  S3D_SPECIES(GIBBS)
}

extern "C" __global__ void s3d_forward(real const* temperature, real* forward) {
  real const t = kelvin(temperature);
  real const log_t = log(t), inverse_t = 1 / t;
#define ARRHENIUS(r, log_a, beta, theta, r0, r1, p0, p1) AT(forward, r) = exp(log_a + beta * log_t - theta * inverse_t);
  S3D_REACTIONS(ARRHENIUS)
}

// Backward rates from the equilibrium constant in concentrations.
extern "C" __global__ void s3d_reverse(real const* temperature, real const* equilibrium, real const* forward,
                                       real* reverse) {
  real const standard = STANDARD_PRESSURE / (GAS_CONSTANT * kelvin(temperature));
#define BACKWARD(r, log_a, beta, theta, r0, r1, p0, p1)                                       \
  AT(reverse, r) = AT(forward, r) * (PAIR(equilibrium, r0, r1) / PAIR(equilibrium, p0, p1)) * \
                   pow(standard, (real)((r1 != NONE) - (p1 != NONE)));
  S3D_REACTIONS(BACKWARD)
}

// Third bodies and pressure dependence [Troe], in place.
extern "C" __global__ void s3d_falloff(real const* temperature, real const* molar, real* forward, real* reverse) {
  real const t = kelvin(temperature);
  real const log_t = log(t), inverse_t = 1 / t;
  real third = REAL(1.5) * AT(molar, H2) + REAL(11.0) * AT(molar, H2O);
  for (int s = 0; s < SPECIES; ++s) third += AT(molar, s);
#define THIRD_BODY(r)      \
  AT(forward, r) *= third; \
  AT(reverse, r) *= third;
  S3D_THIRD_BODY(THIRD_BODY)
#define FALLOFF(r, log_a, beta, theta, a, t3, t1)                                                \
  {                                                                                              \
    real const low = exp(log_a + beta * log_t - theta * inverse_t);                              \
    real const reduced = low * third / AT(forward, r);                                           \
    real const center = log10((1 - a) * exp(-t / t3) + a * exp(-t / t1));                        \
    real const c = log10(reduced) - REAL(0.4) - REAL(0.67) * center;                             \
    real const ratio = c / (REAL(0.75) - REAL(1.27) * center - REAL(0.14) * c);                  \
    real const factor = reduced / (1 + reduced) * pow(REAL(10.0), center / (1 + ratio * ratio)); \
    AT(forward, r) *= factor;                                                                    \
    AT(reverse, r) *= factor;                                                                    \
  }
  S3D_FALLOFF(FALLOFF)
}

// Net progress of every reaction, mol / (cm^3 s).
extern "C" __global__ void s3d_progress(real const* molar, real const* forward, real const* reverse, real* progress) {
#define NET(r, log_a, beta, theta, r0, r1, p0, p1) \
  AT(progress, r) = AT(forward, r) * PAIR(molar, r0, r1) - AT(reverse, r) * PAIR(molar, p0, p1);
  S3D_REACTIONS(NET)
}

// Mass of each species that arises, g / (cm^3 s).
extern "C" __global__ void s3d_production(real const* progress, real* production) {
  real sum[SPECIES + 1];
  for (int s = 0; s <= SPECIES; ++s) sum[s] = 0;
#define COUNT(r, log_a, beta, theta, r0, r1, p0, p1) \
  {                                                  \
    real const net = AT(progress, r);                \
    sum[r0] -= net;                                  \
    sum[r1] -= net;                                  \
    sum[p0] += net;                                  \
    sum[p1] += net;                                  \
  }
  S3D_REACTIONS(COUNT)
#define MASS(s, mass, a0, a1, a2, a5, a6) AT(production, s) = mass * sum[s];
  S3D_SPECIES(MASS)
}
