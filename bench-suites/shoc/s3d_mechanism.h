// Coefficients of the chemistry in s3d.cl, s3d.cu and in the host's reference: oxidation of hydrogen, 9 species and 18
// reactions. They are of the size of published mechanisms' and were not fitted to anything: a load, not chemistry.
//
// The user defines REAL(x), a number of the wanted precision, and gives a macro to each list.
#pragma once

enum { H2, O2, O, OH, H2O, H, HO2, H2O2, N2, SPECIES, NONE = SPECIES };
enum { REACTIONS = 18 };

// S(species, molar mass in g/mol, a0, a1, a2, a5, a6):
// G / RT = a0 (1 - ln T) - a1 T / 2 - a2 T^2 / 6 + a5 / T - a6
#define S3D_SPECIES(S)                                                                             \
  S(H2, REAL(2.016), REAL(2.991), REAL(7.0e-4), REAL(-5.634e-8), REAL(-835.0), REAL(-1.355))       \
  S(O2, REAL(31.999), REAL(3.698), REAL(6.135e-4), REAL(-1.259e-7), REAL(-1234.0), REAL(3.189))    \
  S(O, REAL(15.999), REAL(2.542), REAL(-2.755e-5), REAL(-3.103e-9), REAL(29231.0), REAL(4.920))    \
  S(OH, REAL(17.007), REAL(2.883), REAL(1.014e-3), REAL(-2.277e-7), REAL(3887.0), REAL(5.596))     \
  S(H2O, REAL(18.015), REAL(2.672), REAL(3.056e-3), REAL(-8.730e-7), REAL(-29899.0), REAL(6.863))  \
  S(H, REAL(1.008), REAL(2.5), REAL(0.0), REAL(0.0), REAL(25472.0), REAL(-0.460))                  \
  S(HO2, REAL(33.006), REAL(4.072), REAL(2.131e-3), REAL(-5.308e-7), REAL(-158.0), REAL(3.476))    \
  S(H2O2, REAL(34.014), REAL(4.573), REAL(4.336e-3), REAL(-1.475e-6), REAL(-18007.0), REAL(0.501)) \
  S(N2, REAL(28.014), REAL(2.927), REAL(1.488e-3), REAL(-5.685e-7), REAL(-923.0), REAL(5.981))

// R(number, ln A, beta, activation temperature in K, reactant, reactant, product, product): A T^beta e^(-theta / T),
// in mol, cm and s.
#define S3D_REACTIONS(R)                                            \
  R(0, REAL(32.892), REAL(-0.41), REAL(8353.0), H, O2, O, OH)       \
  R(1, REAL(10.838), REAL(2.67), REAL(3165.0), O, H2, H, OH)        \
  R(2, REAL(19.191), REAL(1.51), REAL(1726.0), OH, H2, H, H2O)      \
  R(3, REAL(14.889), REAL(2.02), REAL(6745.0), OH, OH, O, H2O)      \
  R(4, REAL(45.269), REAL(-1.40), REAL(52525.0), H2, NONE, H, H)    \
  R(5, REAL(51.901), REAL(-2.00), REAL(0.0), H, OH, H2O, NONE)      \
  R(6, REAL(42.997), REAL(-1.00), REAL(0.0), O, H, OH, NONE)        \
  R(7, REAL(28.020), REAL(0.60), REAL(0.0), H, O2, HO2, NONE)       \
  R(8, REAL(30.441), REAL(0.0), REAL(414.0), HO2, H, H2, O2)        \
  R(9, REAL(31.891), REAL(0.0), REAL(148.0), HO2, H, OH, OH)        \
  R(10, REAL(31.112), REAL(0.0), REAL(0.0), HO2, O, OH, O2)         \
  R(11, REAL(30.995), REAL(0.0), REAL(-250.0), HO2, OH, H2O, O2)    \
  R(12, REAL(33.671), REAL(0.0), REAL(6030.0), HO2, HO2, H2O2, O2)  \
  R(13, REAL(33.318), REAL(0.0), REAL(24370.0), H2O2, NONE, OH, OH) \
  R(14, REAL(30.814), REAL(0.0), REAL(1998.0), H2O2, H, H2O, OH)    \
  R(15, REAL(31.505), REAL(0.0), REAL(4000.0), H2O2, H, HO2, H2)    \
  R(16, REAL(16.072), REAL(2.00), REAL(1998.0), H2O2, O, OH, HO2)   \
  R(17, REAL(27.631), REAL(0.0), REAL(0.0), H2O2, OH, HO2, H2O)

// Reactions that need a third body: their rates are multiplied by its concentration.
#define S3D_THIRD_BODY(B) B(4) B(5) B(6)

// F(number, ln A, beta, theta of the low-pressure limit, a, T3, T1 of Troe's formula): rates fall off between the
// limits.
#define S3D_FALLOFF(F)                                                              \
  F(7, REAL(47.903), REAL(-1.72), REAL(264.0), REAL(0.8), REAL(94.0), REAL(1756.0)) \
  F(13, REAL(39.327), REAL(0.0), REAL(22896.0), REAL(0.5), REAL(100.0), REAL(5182.0))
