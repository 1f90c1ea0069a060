#include "runtimes/hostmath/fourier.hpp"

#include <bit>
#include <cmath>
#include <numbers>
#include <utility>

namespace kernelcast::hostmath {

namespace {

using Value = Complex<double>;

Value root(double turn) {  // exp(-2 pi i turn)
  double const angle = -2 * std::numbers::pi * turn;
  return {std::cos(angle), std::sin(angle)};
}

}  // namespace

Fourier::Fourier(std::size_t length) : length_(length), power_(length) {
  bool const is_power = std::has_single_bit(length);
  if (!is_power) power_ = std::bit_ceil(2 * length);
  roots_.resize(std::max<std::size_t>(1, power_ / 2));
  for (std::size_t k = 0; k < roots_.size(); ++k)
    roots_[k] = root(static_cast<double>(k) / static_cast<double>(power_));
  if (is_power) return;
  chirp_.resize(length);
  for (std::size_t k = 0; k < length; ++k) {  // k^2 modulo 2 length: exact however long
    auto const square = k * k % (2 * length);
    chirp_[k] = root(static_cast<double>(square) / (2 * static_cast<double>(length)));
  }
  filter_.resize(power_);
  for (std::size_t k = 0; k < length; ++k) {
    filter_[k] = conjugate(chirp_[k]);
    if (k > 0) filter_[power_ - k] = filter_[k];
  }
  of_power(filter_.data(), false);
}

void Fourier::of_power(Value* values, bool inverse) const {
  for (std::size_t i = 1, j = 0; i < power_; ++i) {  // places with their bits turned round
    std::size_t bit = power_ >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(values[i], values[j]);
  }
  for (std::size_t half = 1; half < power_; half *= 2)
    for (std::size_t begin = 0; begin < power_; begin += 2 * half)
      for (std::size_t k = 0; k < half; ++k) {
        Value const r = roots_[k * (power_ / (2 * half))];
        Value const odd = values[begin + k + half] * (inverse ? conjugate(r) : r), even = values[begin + k];
        values[begin + k] = even + odd;
        values[begin + k + half] = even - odd;
      }
}

void Fourier::transform(Value* values, bool inverse) const {
  if (chirp_.empty()) return of_power(values, inverse);
  std::vector<Value> padded(power_);  // the inverse is the transform of the conjugates, conjugated
  for (std::size_t k = 0; k < length_; ++k) padded[k] = (inverse ? conjugate(values[k]) : values[k]) * chirp_[k];
  of_power(padded.data(), false);
  for (std::size_t k = 0; k < power_; ++k) padded[k] = padded[k] * filter_[k];
  of_power(padded.data(), true);
  double const scale = 1 / static_cast<double>(power_);
  for (std::size_t k = 0; k < length_; ++k) {
    Value const v = padded[k] * chirp_[k] * Value(scale);
    values[k] = inverse ? conjugate(v) : v;
  }
}

void transform(std::span<Fourier const> dimensions, std::vector<Value>& values, bool inverse) {
  std::size_t inner = 1;
  std::vector<Value> line;
  for (auto dimension = dimensions.rbegin(); dimension != dimensions.rend(); ++dimension) {
    std::size_t const length = dimension->length(), outer = values.size() / (length * inner);
    line.resize(length);
    for (std::size_t o = 0; o < outer; ++o)
      for (std::size_t i = 0; i < inner; ++i) {
        Value* const begin = &values[o * length * inner + i];
        for (std::size_t k = 0; k < length; ++k) line[k] = begin[k * inner];
        dimension->transform(line.data(), inverse);
        for (std::size_t k = 0; k < length; ++k) begin[k * inner] = line[k];
      }
    inner *= length;
  }
}

}  // namespace kernelcast::hostmath
