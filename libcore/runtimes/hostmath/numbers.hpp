// The numbers that libraries of linear algebra work on, beside float and double: halves, and complex ones.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace kernelcast::hostmath {

// [ieee 754] binary16. Conversions round to nearest, ties to even.
struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  explicit Half(float value) : bits(rounded(value)) {}
  explicit operator float() const {
    std::uint32_t const sign = std::uint32_t{bits & 0x8000U} << 16, exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000U | fraction << 13);
    if (exponent > 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
    float const small = static_cast<float>(fraction) * 0x1p-24F;
    return sign ? -small : small;
  }

 private:
  static std::uint16_t rounded(float value) {
    auto const all = std::bit_cast<std::uint32_t>(value);
    auto const sign = static_cast<std::uint16_t>(all >> 16 & 0x8000U);
    std::uint32_t const magnitude = all & 0x7fffffffU;
    if (magnitude > 0x7f800000U) return sign | 0x7e00U;
    if (magnitude >= 0x477ff000U) return sign | 0x7c00U;  // rounds to more than the largest
    if (magnitude < 0x38800000U)                          // below the smallest normal one: in steps of 2^-24
      return sign | static_cast<std::uint16_t>(std::nearbyint(std::bit_cast<float>(magnitude) * 0x1p24F));
    std::uint32_t const up = 0xfffU + (magnitude >> 13 & 1);
    return sign | static_cast<std::uint16_t>((magnitude + up - 0x38000000U) >> 13);
  }
};

// bfloat16: the upper half of a float.
struct BFloat {
  std::uint16_t bits = 0;
  BFloat() = default;
  explicit BFloat(float value) {
    auto const all = std::bit_cast<std::uint32_t>(value);
    bool const nan = (all & 0x7fffffffU) > 0x7f800000U;
    bits = static_cast<std::uint16_t>(nan ? all >> 16 | 0x40U : (all + 0x7fffU + (all >> 16 & 1)) >> 16);
  }
  explicit operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
};

// Eight bits: E4M3, without infinities, and E5M2. Conversions round to nearest, ties to even, and what is too large is
// the largest.
template <unsigned ExponentBits>
struct Float8 {
  std::uint8_t bits = 0;
  Float8() = default;
  explicit Float8(float value) : bits(rounded(value)) {}
  explicit operator float() const {
    std::uint32_t const sign = std::uint32_t{bits & 0x80U} << 24, magnitude = bits & 0x7fU;
    if (magnitude > nan_above) return std::bit_cast<float>(sign | 0x7fc00000U);
    if (magnitude > largest) return std::bit_cast<float>(sign | 0x7f800000U);  // E5M2's infinity
    if (magnitude < 1U << fraction_bits) {
      float const small = static_cast<float>(magnitude) * smallest;
      return sign ? -small : small;
    }
    return std::bit_cast<float>(sign | ((magnitude << (23 - fraction_bits)) + (rebias << 23)));
  }

 private:
  static constexpr unsigned fraction_bits = 7 - ExponentBits, bias = (1U << (ExponentBits - 1)) - 1;
  static constexpr std::uint32_t rebias = 127 - bias, largest = ExponentBits == 4 ? 0x7e : 0x7b;
  static constexpr std::uint32_t nan_above = ExponentBits == 4 ? 0x7e : 0x7c;
  static constexpr float smallest = std::bit_cast<float>((rebias + 1 - fraction_bits) << 23);
  static constexpr std::uint32_t first_normal = (rebias + 1) << 23;  // of a float

  static std::uint8_t rounded(float value) {
    auto const all = std::bit_cast<std::uint32_t>(value);
    auto const sign = static_cast<std::uint8_t>(all >> 24 & 0x80U);
    std::uint32_t const magnitude = all & 0x7fffffffU;
    if (magnitude > 0x7f800000U) return sign | 0x7fU;
    if (magnitude < first_normal)
      return sign | static_cast<std::uint8_t>(std::nearbyint(std::bit_cast<float>(magnitude) / smallest));
    std::uint32_t const up = (1U << (22 - fraction_bits)) - 1 + (magnitude >> (23 - fraction_bits) & 1);
    std::uint32_t const code = (magnitude + up - (rebias << 23)) >> (23 - fraction_bits);
    return sign | static_cast<std::uint8_t>(code < largest ? code : largest);
  }
};
using E4M3 = Float8<4>;
using E5M2 = Float8<5>;

// As cuComplex lies in memory; std::complex looks for NaN in each product.
template <class T>
struct Complex {
  T re = 0, im = 0;
  constexpr Complex() = default;
  constexpr Complex(T real, T imaginary = 0) : re(real), im(imaginary) {}
  friend constexpr Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  friend constexpr Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
  friend constexpr Complex operator*(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  friend Complex operator/(Complex a, Complex b) {  // Smith 1962
    if (std::abs(b.re) >= std::abs(b.im)) {
      T const r = b.im / b.re, d = b.re + b.im * r;
      return {(a.re + a.im * r) / d, (a.im - a.re * r) / d};
    }
    T const r = b.re / b.im, d = b.re * r + b.im;
    return {(a.re * r + a.im) / d, (a.im * r - a.re) / d};
  }
  Complex& operator+=(Complex b) { return *this = *this + b; }
  friend constexpr bool operator==(Complex, Complex) = default;
};

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<Complex<T>> = true;

template <class T>
struct RealOf {
  using Type = T;
};
template <class T>
struct RealOf<Complex<T>> {
  using Type = T;
};
template <class T>
using Real = typename RealOf<T>::Type;

template <class T>
T conjugate(T value) {
  if constexpr (is_complex<T>)
    return {value.re, -value.im};
  else
    return value;
}
template <class T>
inline constexpr bool is_narrow_float =
    std::is_same_v<T, Half> || std::is_same_v<T, BFloat> || std::is_same_v<T, E4M3> || std::is_same_v<T, E5M2>;
template <class To, class From>
To converted(From value) {
  if constexpr (std::is_same_v<To, From>)
    return value;
  else if constexpr (is_narrow_float<To>)
    return To(static_cast<float>(value));
  else if constexpr (is_narrow_float<From>)
    return static_cast<To>(static_cast<float>(value));
  else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>)
    return static_cast<To>(std::nearbyint(value));
  else
    return static_cast<To>(value);
}

}  // namespace kernelcast::hostmath
