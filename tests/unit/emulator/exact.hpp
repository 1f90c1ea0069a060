// Exact arithmetic on floating-point numbers, and rounding by definition, for tests: nothing here rounds twice.
//
// Exact holds a number as an integer multiple of 2^-640 with 1280 bits: wide enough for products and sums of f32.
// Small formats are tables of their values, in which the neighbours of a number are searched.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace kernelcast::emu::test {

enum class Toward { nearest_even, nearest_away, zero, down, up };

class Exact {
 public:
  static constexpr int words = 40, unit = -640;  // words of 32 bits
  bool negative = false;
  std::array<std::uint32_t, words> magnitude{};

  bool zero() const {
    for (std::uint32_t w : magnitude)
      if (w) return false;
    return true;
  }
  // significand * 2^exponent
  static Exact of(bool negative, std::uint64_t significand, int exponent) {
    Exact x;
    x.negative = negative;
    int const at = exponent - unit;
    for (int bit = 0; bit < 64; ++bit)
      if (significand >> bit & 1) x.magnitude[static_cast<std::size_t>((at + bit) / 32)] |= 1u << ((at + bit) % 32);
    return x;
  }
  friend int compare_magnitudes(Exact const& a, Exact const& b) {
    for (std::size_t i = words; i-- > 0;)
      if (a.magnitude[i] != b.magnitude[i]) return a.magnitude[i] < b.magnitude[i] ? -1 : 1;
    return 0;
  }
  friend Exact operator+(Exact const& a, Exact const& b) {
    Exact x;
    if (a.negative == b.negative) {
      std::uint64_t carry = 0;
      for (std::size_t i = 0; i < words; ++i) {
        carry += std::uint64_t{a.magnitude[i]} + b.magnitude[i];
        x.magnitude[i] = static_cast<std::uint32_t>(carry);
        carry >>= 32;
      }
      x.negative = a.negative;
      return x;
    }
    bool const a_larger = compare_magnitudes(a, b) >= 0;
    Exact const &larger = a_larger ? a : b, &smaller = a_larger ? b : a;
    std::int64_t borrow = 0;
    for (std::size_t i = 0; i < words; ++i) {
      std::int64_t part = std::int64_t{larger.magnitude[i]} - smaller.magnitude[i] + borrow;
      borrow = part < 0 ? -1 : 0;
      x.magnitude[i] = static_cast<std::uint32_t>(part);
    }
    x.negative = larger.negative;
    if (x.zero()) x.negative = false;
    return x;
  }
  int highest_bit() const {
    for (int i = 32 * words; i-- > 0;)
      if (bit(i)) return i;
    return -1;
  }
  bool bit(int i) const { return i >= 0 && (magnitude[static_cast<std::size_t>(i / 32)] >> (i % 32) & 1); }

  // In a format of IEEE 754: the code, sign included.
  std::uint64_t rounded(int exponent_bits, int mantissa_bits, Toward toward) const {
    int const bias = (1 << (exponent_bits - 1)) - 1;
    std::uint64_t const sign = negative ? std::uint64_t{1} << (exponent_bits + mantissa_bits) : 0;
    if (zero()) return sign;
    int const lead = highest_bit(), smallest = 1 - bias - unit;
    int const last = std::max(lead, smallest) - mantissa_bits;  // the lowest bit that is kept
    std::uint64_t kept = 0;
    for (int i = lead; i >= last; --i) kept = kept << 1 | bit(i);
    bool const half = bit(last - 1);
    bool rest = false;
    for (int i = 0; i < last - 1; ++i) rest |= bit(i);
    bool const inexact = half || rest;
    bool const more = toward == Toward::nearest_even   ? half && (rest || (kept & 1))
                      : toward == Toward::nearest_away ? half
                      : toward == Toward::zero         ? false
                      : toward == Toward::up           ? inexact && !negative
                                                       : inexact && negative;
    kept += more;
    int const exponent = std::max(lead, smallest) + unit + bias;
    std::uint64_t const code = kept + (static_cast<std::uint64_t>(exponent - 1) << mantissa_bits);
    std::uint64_t const infinity = ((std::uint64_t{1} << exponent_bits) - 1) << mantissa_bits;
    bool const to_largest = toward == Toward::zero || toward == (negative ? Toward::up : Toward::down);
    return sign | (code < infinity ? code : to_largest ? infinity - 1 : infinity);
  }
};

// A float in any IEEE format, taken apart.
struct Parts {
  bool nan = false, infinite = false, negative = false;
  std::uint64_t significand = 0;
  int exponent = 0;
};
inline Parts parts_of(std::uint64_t code, int exponent_bits, int mantissa_bits) {
  Parts p;
  std::uint64_t const mantissa = code & ((std::uint64_t{1} << mantissa_bits) - 1);
  int const field = static_cast<int>(code >> mantissa_bits & ((std::uint64_t{1} << exponent_bits) - 1));
  int const bias = (1 << (exponent_bits - 1)) - 1;
  p.negative = code >> (exponent_bits + mantissa_bits) & 1;
  p.nan = field == (1 << exponent_bits) - 1 && mantissa != 0;
  p.infinite = field == (1 << exponent_bits) - 1 && mantissa == 0;
  p.significand = field ? mantissa | std::uint64_t{1} << mantissa_bits : mantissa;
  p.exponent = (field ? field : 1) - bias - mantissa_bits;
  return p;
}

// a * b + c with formats (e, m) of the factors, (ce, cm) of the addend and (re, rm) of the result; NaN as all ones but
// the sign.
struct Shape {
  int e, m;
};
inline std::uint64_t fused(std::uint64_t a, std::uint64_t b, std::uint64_t c, Shape factor, Shape addend, Shape result,
                           Toward toward) {
  Parts const x = parts_of(a, factor.e, factor.m), y = parts_of(b, factor.e, factor.m),
              z = parts_of(c, addend.e, addend.m);
  std::uint64_t const nan = (std::uint64_t{1} << (result.e + result.m)) - 1;
  std::uint64_t const infinity = ((std::uint64_t{1} << result.e) - 1) << result.m, sign = nan + 1;
  bool const product_zero = (!x.infinite && x.significand == 0) || (!y.infinite && y.significand == 0);
  bool const product_infinite = x.infinite || y.infinite, negative = x.negative != y.negative;
  if (x.nan || y.nan || z.nan || (product_infinite && product_zero)) return nan;
  if (product_infinite && z.infinite && negative != z.negative) return nan;
  if (product_infinite) return (negative ? sign : 0) | infinity;
  if (z.infinite) return (z.negative ? sign : 0) | infinity;
  Exact const product = Exact::of(negative, x.significand * y.significand, x.exponent + y.exponent);
  Exact sum = product + Exact::of(z.negative, z.significand, z.exponent);
  if (sum.zero()) {
    bool const both = negative == z.negative && product.zero() && z.significand == 0;
    sum.negative = both ? negative : toward == Toward::down;
  }
  return sum.rounded(result.e, result.m, toward);
}
inline std::uint64_t one(Shape s) {
  return static_cast<std::uint64_t>((1 << (s.e - 1)) - 1) << s.m;
}
inline std::uint64_t added(std::uint64_t a, std::uint64_t b, Shape s, Toward toward) {
  return fused(a, one(s), b, s, s, s, toward);
}
inline std::uint64_t negated(std::uint64_t a, Shape s) {
  return a ^ std::uint64_t{1} << (s.e + s.m);
}
inline std::uint64_t multiplied(std::uint64_t a, std::uint64_t b, Shape s, Toward toward) {
  Parts const x = parts_of(a, s.e, s.m), y = parts_of(b, s.e, s.m);
  // Adding a zero of the product's sign changes nothing.
  return fused(a, b, x.negative != y.negative ? std::uint64_t{1} << (s.e + s.m) : 0, s, s, s, toward);
}

inline constexpr Shape f16_shape{5, 10}, bf16_shape{8, 7}, f32_shape{8, 23};

// A format of at most 16 bits as its definition has it: the values of its codes without sign, in ascending order.
struct Table {
  std::vector<long double> values;  // finite
  bool has_infinity = false, has_nan = false;
  int bits = 0;              // sign included
  long double overflow = 0;  // what would follow the largest value
  static Table of(int exponent_bits, int mantissa_bits, bool infinity, bool nan_code) {
    Table t;
    t.has_infinity = infinity;
    t.has_nan = infinity || nan_code;
    t.bits = 1 + exponent_bits + mantissa_bits;
    int const bias = (1 << (exponent_bits - 1)) - 1, codes = 1 << (exponent_bits + mantissa_bits);
    auto value = [&](int code) {
      int const field = code >> mantissa_bits, mantissa = code & ((1 << mantissa_bits) - 1);
      return field ? std::ldexp(static_cast<long double>(mantissa + (1 << mantissa_bits)), field - bias - mantissa_bits)
                   : std::ldexp(static_cast<long double>(mantissa), 1 - bias - mantissa_bits);
    };
    int const finite = infinity ? codes - (1 << mantissa_bits) : codes - nan_code;
    for (int code = 0; code < finite; ++code) t.values.push_back(value(code));
    t.overflow = value(finite);
    return t;
  }
  std::uint64_t nan() const { return (std::uint64_t{1} << (bits - 1)) - 1; }
  long double value(std::uint64_t code) const {
    std::uint64_t const sign = std::uint64_t{1} << (bits - 1), rest = code & (sign - 1);
    long double const v = rest < values.size()                    ? values[rest]
                          : has_infinity && rest == values.size() ? INFINITY
                                                                  : static_cast<long double>(NAN);
    return code & sign ? -v : v;
  }
  std::uint64_t code(long double x, Toward toward, bool keep_finite) const {
    std::uint64_t const top = values.size() - 1, sign = std::signbit(x) ? std::uint64_t{1} << (bits - 1) : 0;
    if (std::isnan(x)) return has_nan ? nan() : top;
    long double const m = std::fabs(x);
    std::uint64_t const beyond = keep_finite || !has_infinity ? top : top + 1;
    if (std::isinf(x)) return sign | beyond;
    std::size_t low = 0, high = values.size() - 1;
    while (low < high) {  // the largest value that is not above
      std::size_t const middle = (low + high + 1) / 2;
      if (values[middle] <= m)
        low = middle;
      else
        high = middle - 1;
    }
    long double const next = low == top ? overflow : values[low + 1];
    long double const below = m - values[low], above = next - m;
    bool up = false;
    switch (toward) {
      case Toward::nearest_even:
        up = above < below || (above == below && low % 2 == 1);
        break;
      case Toward::nearest_away:
        up = above <= below;
        break;
      case Toward::zero:
        break;
      case Toward::down:
        up = sign && below > 0;
        break;
      case Toward::up:
        up = !sign && below > 0;
        break;
    }
    if (!up)
      return sign | (m >= overflow && (toward == Toward::nearest_even || toward == Toward::nearest_away ||
                                       toward == (sign ? Toward::down : Toward::up))
                         ? beyond
                         : low);
    return sign | (low == top ? beyond : low + 1);
  }
};

}  // namespace kernelcast::emu::test
