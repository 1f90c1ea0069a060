// Approximate functions of single precision: computed in double precision and rounded once, in steps without branches,
// calls or fused operations, so that a loop over lanes becomes vectors, with the same results on every host.
//
// Method: reduction of the argument and a series that leaves less than 2^-40 of the result; special values follow from
// the arithmetic or are selected. Checked against the C library by opcodes_float_test.cpp.
// Limit: sine and cosine lose digits beyond 1e9, as the hardware's do from far smaller arguments on; their results stay
// within [-1, 1].
#pragma once

#include <bit>

#include "emulator/opcodes/lanewise.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

// c + c1 x + c2 x^2 + ...: no loop, which would not become vectors.
constexpr f64 polynomial(f64, f64 c) {
  return c;
}
template <class... C>
constexpr f64 polynomial(f64 x, f64 c, C... more) {
  return polynomial(x, more...) * x + c;
}

// Added to a number, it leaves the nearest whole number in the low bits.
constexpr f64 rounder = 0x1.8p52;
inline u64 whole_bits(f64 rounded_up) {
  return std::bit_cast<u64>(rounded_up) - std::bit_cast<u64>(rounder);
}

// 2^x, of what single precision holds.
inline f64 power_of_2(f64 x) {
  x = x < -200 ? -200 : x;  // a NaN stays
  x = x > 200 ? 200 : x;
  f64 const up = x + rounder;
  // ln(2)^i / i!
  f64 const power =
      polynomial(x - (up - rounder), 1.0, 0x1.62e42fefa39efp-1, 0x1.ebfbdff82c58fp-3, 0x1.c6b08d704a0c0p-5,
                 0x1.3b2ab6fba4e77p-7, 0x1.5d87fe78a6731p-10, 0x1.430912f86c787p-13, 0x1.ffcbfc588b0c7p-17,
                 0x1.62c0223a5c824p-20, 0x1.b5253d395e7c4p-24, 0x1.e4cf5158b8ecap-28);
  return power * std::bit_cast<f64>((whole_bits(up) + 1023) << 52);
}
struct Exponential {
  f32 operator()(f32 a) const { return static_cast<f32>(power_of_2(static_cast<f64>(a))); }
};

struct Tangent {  // hyperbolic
  f32 operator()(f32 a) const {
    f64 const x = static_cast<f64>(a), size = x < 0 ? -x : x;
    f64 const t = power_of_2(size * -0x1.71547652b82fep+1);  // e^(-2 |x|)
    f64 const far = (1 - t) / (1 + t), near = x * (1 - x * x * (1.0 / 3));
    return static_cast<f32>(size < 0x1p-9 ? near : x < 0 ? -far : far);
  }
};

struct Logarithm {  // log2(a)
  f32 operator()(f32 a) const {
    u64 const bits = std::bit_cast<u64>(static_cast<f64>(a));
    // The mantissa between sqrt(1/2) and sqrt(2), so that numbers near 1 have an exponent of 0.
    constexpr u64 root_half = 0x3fe6a09e667f3bcdu;
    auto const exponent = static_cast<s64>(bits - root_half) >> 52;
    f64 const mantissa = std::bit_cast<f64>(bits - (static_cast<u64>(exponent) << 52));
    f64 const s = (mantissa - 1) / (mantissa + 1);
    // 2 / ln(2) (s + s^3 / 3 + s^5 / 5 + ...)
    constexpr f64 scale = 0x1.71547652b82fep+1;
    f64 const whole = std::bit_cast<f64>(static_cast<u64>(exponent) + std::bit_cast<u64>(rounder)) - rounder;
    f64 const result = whole + s * polynomial(s * s, scale, scale / 3, scale / 5, scale / 7, scale / 9, scale / 11,
                                              scale / 13, scale / 15);
    constexpr f32 infinite = std::bit_cast<f32>(0x7f800000u);
    f32 const special = a == 0 ? -infinite : a > 0 ? a : std::bit_cast<f32>(0x7fc00000u);  // 0, infinity or a NaN
    return a > 0 && a < infinite ? static_cast<f32>(result) : special;
  }
};

// Sine, or cosine: the sine of a quarter turn more.
template <bool Cosine>
struct Wave {
  f32 operator()(f32 a) const {
    f64 const x = static_cast<f64>(a);
    f64 const up = x * 0x1.45f306dc9c883p-1 + rounder, turns = up - rounder;  // quarters
    // Pi / 2 in three pieces, of which the first two times 2^31 are exact.
    f64 r = x - turns * 0x1.921fbp0;
    r = r - turns * 0x1.5110bp-22;
    r = r - turns * 0x1.18469898cc517p-44;
    constexpr f64 eighth = 0x1.921fb54442d18p-1;
    r = r > eighth ? eighth : r;  // a NaN stays
    r = r < -eighth ? -eighth : r;
    // (-1)^i / (2 i + 1)! and (-1)^i / (2 i)!
    u64 const quarter = whole_bits(up) + (Cosine ? 1 : 0);
    f64 const square = r * r;
    f64 const sine =
        r * polynomial(square, 1.0, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800);
    f64 const cosine = polynomial(square, 1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800,
                                  1.0 / 479001600, -1.0 / 87178291200);
    u64 const chosen = std::bit_cast<u64>(quarter & 1 ? cosine : sine);
    return static_cast<f32>(std::bit_cast<f64>(chosen ^ (quarter & 2) << 62));
  }
};
using Sine = Wave<false>;
using Cosine = Wave<true>;

struct ReciprocalRoot {
  // From a guess by the halved exponent (error 2^-4), in steps that leave its cube and its fourth power: less work than
  // a division and a root.
  f32 operator()(f32 a) const {
    f64 const x = static_cast<f64>(a);
    f64 y = std::bit_cast<f64>(0x5fe6eb50c7b537a9u - (std::bit_cast<u64>(x) >> 1));
    f64 error = 1 - x * y * y;
    y = y + y * error * (1.0 / 2 + 3.0 / 8 * error);
    error = 1 - x * y * y;
    y = y + y * error * (1.0 / 2 + error * (3.0 / 8 + 5.0 / 16 * error));
    constexpr f32 infinite = std::bit_cast<f32>(0x7f800000u);
    f32 const of_zero = std::bit_cast<f32>(std::bit_cast<u32>(a) | 0x7f800000u);  // with its sign
    f32 const special = a == 0 ? of_zero : a > 0 ? 0 : std::bit_cast<f32>(0x7fc00000u);
    return a > 0 && a < infinite ? static_cast<f32>(y) : special;
  }
  f64 operator()(f64 a) const { return 1.0 / __builtin_sqrt(a); }
};

}  // namespace
}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
