// A number that knows how far a right computation in the precision of Real may be off: running error analysis [Higham,
// Accuracy and Stability, 3.3].
//
// `value` is computed in long double; any evaluation of the same expression in Real, each operation rounded to nearest,
// products fused into sums or not, small numbers flushed to zero or not, is within `error` of it. Divisions and
// functions have the errors that OpenCL C 1.2, table 7.4.1 allows, which CUDA's keep within: in units in the last
// place, division 2.5, exp, log and log10 3, pow 16.
#pragma once

#include <cmath>
#include <limits>

namespace kernelcast::suites {

template <class Real>
struct Approximate {
  static constexpr long double u = std::numeric_limits<Real>::epsilon() / 2;
  static constexpr long double tiny = std::numeric_limits<Real>::min();
  static constexpr long double ulp = 2 * u;  // an upper bound of one, relative to the number

  long double value = 0, error = 0;

  Approximate() = default;
  Approximate(Real exact) : value(exact) {}
  Approximate(long double value_, long double error_) : value(value_), error(error_) {}
  // A decimal constant in the source.
  static Approximate constant(double decimal) { return {decimal, u * std::abs(static_cast<long double>(decimal))}; }

  // The result of an operation: `spread` comes from the operands, the rounding is added.
  static Approximate rounded(long double value, long double spread, long double roundings = 1) {
    return {value, spread + roundings * u * (std::abs(value) + spread) + tiny};
  }
  long double magnitude() const { return std::abs(value) + error; }

  friend Approximate operator+(Approximate a, Approximate b) { return rounded(a.value + b.value, a.error + b.error); }
  friend Approximate operator-(Approximate a, Approximate b) { return rounded(a.value - b.value, a.error + b.error); }
  friend Approximate operator-(Approximate a) { return {-a.value, a.error}; }
  friend Approximate operator*(Approximate a, Approximate b) {
    return rounded(a.value * b.value, std::abs(a.value) * b.error + std::abs(b.value) * a.error + a.error * b.error);
  }
  friend Approximate operator/(Approximate a, Approximate b) {
    long double const quotient = a.value / b.value;
    long double const spread = (a.error + std::abs(quotient) * b.error) / (std::abs(b.value) - b.error);
    return rounded(quotient, spread, 5);
  }
  Approximate& operator+=(Approximate b) { return *this = *this + b; }
  Approximate& operator-=(Approximate b) { return *this = *this - b; }
  Approximate& operator*=(Approximate b) { return *this = *this * b; }

  friend Approximate exp(Approximate a) {
    long double const result = std::exp(a.value);
    return rounded(result, result * std::expm1(a.error), 3 * ulp / u);
  }
  friend Approximate log(Approximate a) {
    return rounded(std::log(a.value), a.error / (a.value - a.error), 3 * ulp / u);
  }
  friend Approximate log10(Approximate a) {
    return rounded(std::log10(a.value), a.error / (a.value - a.error) / std::log(10.0L), 3 * ulp / u);
  }
  friend Approximate pow(Approximate a, Approximate b) {
    long double const result = std::pow(a.value, b.value), log_a = std::log(a.value);
    long double const exponent = std::abs(b.value) * a.error / (a.value - a.error) + b.error * std::abs(log_a);
    return rounded(result, result * std::expm1(exponent), 16 * ulp / u);
  }

  // A sum whose terms each pass through at most `depth` additions, in whatever order: off by depth u / (1 - depth u) of
  // the terms' magnitudes [Higham 4.2]. A product fused into its sum, or not, is one more addition.
  static Approximate sum(long double value, long double magnitudes, long double depth) {
    return {value, depth * u / (1 - depth * u) * magnitudes + tiny};
  }
};

}  // namespace kernelcast::suites
