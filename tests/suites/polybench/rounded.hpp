// A number, and how far a computation of it in single precision may be away.
//
// Problem: a kernel and a plain loop in double precision give different digits; which difference is rounding, and which
// a mistake? Method: a running error bound (Higham, Accuracy and Stability of Numerical Algorithms, 3.3). Every
// operation adds the most that it may round, u |result| with u = 2^-24 the unit roundoff, to what its operands' errors
// can make of the result; sums may be taken in any order (Higham, 4.2). A fused multiply-add rounds once where the
// bound counts two, so contraction is covered. A quotient may be off by 2.5 units in the last place and a square root
// by 3, as OpenCL allows; CUDA's and PTX's own are closer. Limits: the bound assumes results between 2^-126 and 2^128.
// `value` is rounded to double at each step, 2^29 times finer than what is bounded; `u` is taken larger by 1 % for it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace kernelcast::suites {

class Rounded {
 public:
  constexpr Rounded() = default;
  constexpr Rounded(float exact) : value_(exact) {}

  double value() const { return value_; }
  double error() const { return error_; }

  friend Rounded operator+(Rounded a, Rounded b) { return {a.value_ + b.value_, a.error_ + b.error_, 1}; }
  friend Rounded operator-(Rounded a, Rounded b) { return {a.value_ - b.value_, a.error_ + b.error_, 1}; }
  friend Rounded operator*(Rounded a, Rounded b) {
    return {a.value_ * b.value_, std::abs(a.value_) * b.error_ + std::abs(b.value_) * a.error_ + a.error_ * b.error_,
            1};
  }
  // Without bound where the divisor may be 0.
  friend Rounded operator/(Rounded a, Rounded b) {
    double const value = a.value_ / b.value_, nearest = std::abs(b.value_) - b.error_;
    if (!(nearest > 0)) return {value, std::numeric_limits<double>::infinity(), 5};
    return {value, (a.error_ + std::abs(value) * b.error_) / nearest, 5};
  }
  friend Rounded sqrt(Rounded a) {
    double const value = std::sqrt(a.value_), least = std::sqrt(std::max(0.0, a.value_ - a.error_));
    return {value, a.error_ == 0 ? 0 : std::min(a.error_ / (least + value), std::sqrt(a.error_)), 6};
  }
  Rounded& operator+=(Rounded b) { return *this = *this + b; }
  Rounded& operator-=(Rounded b) { return *this = *this - b; }
  Rounded& operator/=(Rounded b) { return *this = *this / b; }

 private:
  friend class Sum;
  static constexpr double u = 1.01 * 0x1p-24;

  // `carried`: what the operands' errors make of the result; a result may round by so many u.
  Rounded(double value, double carried, double roundoffs)
      : value_(value), error_(carried + roundoffs * u * (std::abs(value) + carried)) {}

  double value_ = 0;
  double error_ = 0;
};

// A sum of n terms in any order, also as a tree or in parts: off by at most (n - 1) u / (1 - (n - 1) u) times the sum
// of the terms' magnitudes, and by the terms' own errors.
class Sum {
 public:
  Sum& operator+=(Rounded term) {
    ++terms_;
    value_ += term.value_;
    carried_ += term.error_;
    magnitude_ += std::abs(term.value_) + term.error_;
    return *this;
  }
  Rounded total() const {
    double const additions = terms_ > 1 ? static_cast<double>(terms_ - 1) * Rounded::u : 0;
    Rounded result;
    result.value_ = value_;
    result.error_ = carried_ + additions / (1 - additions) * magnitude_;
    return result;
  }

 private:
  std::size_t terms_ = 0;
  double value_ = 0, carried_ = 0, magnitude_ = 0;
};

}  // namespace kernelcast::suites
