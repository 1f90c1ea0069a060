// Discrete Fourier transforms of any length, in double precision.
//
// Method: powers of two by Cooley and Tukey's radix 2, in place; other lengths as a convolution of a power of two
// (Bluestein). Several dimensions one after the other. Nothing is scaled.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtimes/hostmath/numbers.hpp"

namespace kernelcast::hostmath {

// Transforms of one length; ready for many.
class Fourier {
 public:
  explicit Fourier(std::size_t length);
  void transform(Complex<double>* values, bool inverse) const;  // `length` of them, side by side
  std::size_t length() const { return length_; }

 private:
  void of_power(Complex<double>* values, bool inverse) const;

  std::size_t length_, power_;           // the power of two that is used
  std::vector<Complex<double>> roots_;   // exp(-2 pi i k / power)
  std::vector<Complex<double>> chirp_;   // exp(-pi i k^2 / length), where length is no power of two
  std::vector<Complex<double>> filter_;  // transformed
};

// In as many dimensions as there are transforms, the last one's values side by side.
void transform(std::span<Fourier const> dimensions, std::vector<Complex<double>>& values, bool inverse);

}  // namespace kernelcast::hostmath
