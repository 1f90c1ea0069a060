// min and max of floating-point values, with their modifiers, for the families that have them.
//
// The number wins over NaN, -0 is below +0. .NaN: NaN wins. .xorsign.abs: of the magnitudes, with the product's sign.
// In an unnamed namespace, as float_lanes.hpp.
#pragma once

#include "emulator/opcodes/arithmetic.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

template <bool Maximum, bool NanWins>
struct Extreme {
  template <class T>
  T operator()(T a, T b) const {
    bool const below = a == b ? static_cast<bool>(__builtin_signbit(a)) : a < b;
    T const number = below != Maximum ? a : b;
    if constexpr (NanWins) return a != a ? a : b != b ? b : number;
    return a != a ? b : b != b ? a : number;
  }
};

inline f32 magnitude(f32 a) {
  return std::bit_cast<f32>(std::bit_cast<u32>(a) & 0x7fffffffu);
}
template <class F>
struct SignedByProduct {
  f32 operator()(f32 a, f32 b) const {
    u32 const sign = (std::bit_cast<u32>(a) ^ std::bit_cast<u32>(b)) & 0x80000000u;
    return std::bit_cast<f32>(std::bit_cast<u32>(F{}(magnitude(a), magnitude(b))) | sign);
  }
};
template <class F>
struct OfMagnitudes {
  template <class... T>
  f32 operator()(T... a) const {
    return F{}(magnitude(a)...);
  }
};
template <class F>
struct OfThree {
  f32 operator()(f32 a, f32 b, f32 c) const { return F{}(F{}(a, b), c); }
};

// In 16 bits: exact in f32, so that rounding back only makes NaN canonical.
template <bool Maximum, bool NanWins, bool Xorsign, class H>
struct Extreme16 {
  H operator()(H a, H b) const {
    using F = Extreme<Maximum, NanWins>;
    if constexpr (Xorsign)
      return narrow<H>(SignedByProduct<F>{}(widen(a), widen(b)));
    else
      return narrow<H>(F{}(widen(a), widen(b)));
  }
};

}  // namespace
}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
