// Numbers of any format, unpacked, and rounded into another: integer arithmetic only, so that rounding happens once.
// Compiled once per instruction-set level.
#pragma once

#include "emulator/opcodes/lanewise.hpp"
#include "emulator/opcodes/reformat.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

// significand * 2^exponent; a finite number other than 0 has the top bit of its significand set.
struct Number {
  enum class Kind : u8 { zero, finite, infinite, nan };
  Kind kind = Kind::zero;
  bool negative = false;
  u64 significand = 0;
  s32 exponent = 0;
};

Number normalised(bool negative, u64 significand, s32 exponent) {
  if (significand == 0) return {Number::Kind::zero, negative, 0, 0};
  int const lead = std::countl_zero(significand);
  return {Number::Kind::finite, negative, significand << lead, exponent - lead};
}

constexpr u64 low_bits(unsigned n) {
  return n >= 64 ? ~u64{0} : (u64{1} << n) - 1;
}
constexpr s32 bias_of(NumberFormat const& f) {
  return (1 << (f.exponent_bits - 1)) - 1;
}

Number unpack(NumberFormat const& f, u64 bits) {
  bits = bits >> f.shift & low_bits(f.bits);
  using Kind = NumberFormat::Kind;
  if (f.kind == Kind::integer) {
    bool const negative = f.is_signed && (bits >> (f.bits - 1) & 1);
    return normalised(negative, negative ? (u64{0} - bits) & low_bits(f.bits) : bits, 0);
  }
  if (f.kind == Kind::exponent_only) {
    if (bits == 0xff) return {Number::Kind::nan, false, 0, 0};
    return normalised(false, 1, static_cast<s32>(bits) - 127);
  }
  unsigned const m = f.mantissa_bits;
  bool const negative = bits >> (f.bits - 1) & 1;
  u64 const mantissa = bits & low_bits(m), exponent = bits >> m & low_bits(f.exponent_bits);
  if (f.kind == Kind::ieee && exponent == low_bits(f.exponent_bits))
    return {mantissa ? Number::Kind::nan : Number::Kind::infinite, negative, 0, 0};
  if (f.kind == Kind::nan_only && exponent == low_bits(f.exponent_bits) && mantissa == low_bits(m))
    return {Number::Kind::nan, negative, 0, 0};
  s32 const unit = 1 - bias_of(f) - static_cast<s32>(m);  // of subnormals
  if (exponent == 0) return normalised(negative, mantissa, unit);
  return normalised(negative, mantissa | u64{1} << m, unit + static_cast<s32>(exponent) - 1);
}

// significand / 2^drop, rounded; `drop` may exceed 64. random: as many bits as would be dropped, most of them lost if
// `drop` is larger than `random_bits`.
u64 round_off(u64 significand, s32 drop, bool negative, Rounding rounding, u32 random = 0, s32 random_bits = 0) {
  if (drop <= 0) return significand;
  u64 const kept = drop < 64 ? significand >> drop : 0;
  u64 const rest = drop < 64 ? significand & low_bits(static_cast<unsigned>(drop)) : significand;
  // The rest as a fraction of 2^64: exact but for a sticky last bit.
  u64 const fraction = drop <= 64 ? rest << (64 - drop)
                       : drop < 128
                           ? (rest >> (drop - 64) | u64{(rest & low_bits(static_cast<unsigned>(drop - 64))) != 0})
                           : u64{rest != 0};
  constexpr u64 half = u64{1} << 63;
  bool more = false;
  switch (rounding) {
    case Rounding::nearest_even:
      more = fraction > half || (fraction == half && (kept & 1));
      break;
    case Rounding::nearest_away:
      more = fraction >= half;
      break;
    case Rounding::zero:
      break;
    case Rounding::down:
      more = negative && fraction != 0;
      break;
    case Rounding::up:
      more = !negative && fraction != 0;
      break;
    case Rounding::stochastic:
      more = (((fraction >> (64 - random_bits)) + random) >> random_bits & 1) != 0;
      break;
  }
  return kept + more;
}

// The integer next to the number, as the rounding says, in 64 bits: 2^64 - 1 where it is larger than that.
u64 whole_magnitude(Number const& x, Rounding rounding) {
  if (x.kind == Number::Kind::zero) return 0;
  if (x.kind == Number::Kind::infinite || x.exponent > 0) return ~u64{0};
  return round_off(x.significand, -x.exponent, x.negative, rounding);
}

// A number as an integer of the format: clamped. NaN: 0, or the top bit alone.
u64 to_integer(Number const& x, NumberFormat const& f, Rounding rounding, u64 nan) {
  if (x.kind == Number::Kind::nan) return nan;
  u64 const magnitude = whole_magnitude(x, rounding), top = u64{1} << (f.bits - 1);
  if (!f.is_signed) return x.negative ? 0 : magnitude > low_bits(f.bits) ? low_bits(f.bits) : magnitude;
  if (x.negative) return (u64{0} - (magnitude > top ? top : magnitude)) & low_bits(f.bits);
  return magnitude >= top ? top - 1 : magnitude;
}

// The largest finite code, without sign.
u64 largest(NumberFormat const& f) {
  u64 const all = low_bits(f.exponent_bits + f.mantissa_bits);
  return f.kind == NumberFormat::Kind::ieee       ? all - (u64{1} << f.mantissa_bits)
         : f.kind == NumberFormat::Kind::nan_only ? all - 1
                                                  : all;
}

struct FloatOptions {
  Rounding rounding = Rounding::nearest_even;
  bool finite = false;  // .satfinite
  u32 random = 0;
  s32 random_bits = 0;
};

u64 to_powers_of_two(Number const& x, FloatOptions const& o) {
  if (x.kind == Number::Kind::nan) return 0xff;
  if (x.kind == Number::Kind::infinite) return o.finite ? 0xfe : 0xff;
  if (x.kind == Number::Kind::zero) return 0;
  s32 code = x.exponent + 63 + 127;  // of the leading bit
  bool const power = x.significand == u64{1} << 63;
  if (o.rounding == Rounding::up && !power) ++code;
  if (code < 0) return 0;
  s32 const highest = o.finite ? 0xfe : 0xff;
  return static_cast<u64>(code > highest ? highest : code);
}

bool overflows_to_infinity(Rounding rounding, bool negative) {
  return rounding != Rounding::zero && rounding != (negative ? Rounding::up : Rounding::down);
}

// A number as a float of the format, sign included, NaN as the format's own.
u64 to_float(Number const& x, NumberFormat const& f, FloatOptions const& o) {
  if (f.kind == NumberFormat::Kind::exponent_only) return to_powers_of_two(x, o);
  u64 const sign = x.negative ? u64{1} << (f.exponent_bits + f.mantissa_bits) : 0;
  u64 const top = largest(f), all = low_bits(f.exponent_bits + f.mantissa_bits);
  bool const ieee = f.kind == NumberFormat::Kind::ieee;
  if (x.kind == Number::Kind::nan) return f.kind == NumberFormat::Kind::finite_only ? top : all;
  if (x.kind == Number::Kind::zero) return sign;
  if (x.kind == Number::Kind::infinite) return sign | (o.finite || !ieee ? top : top + 1);
  s32 const m = f.mantissa_bits, lowest = 1 - bias_of(f), lead = x.exponent + 63;
  s32 const below = lead < lowest ? lowest - lead : 0;
  u64 const kept = round_off(x.significand, 63 - m + below, x.negative, o.rounding, o.random, o.random_bits);
  u64 const beyond = o.finite || !ieee || !overflows_to_infinity(o.rounding, x.negative) ? top : top + 1;
  if (lead > bias_of(f) + 1) return sign | beyond;  // its code would not fit
  // A carry out of the mantissa makes the next exponent.
  u64 const code = kept + (below ? 0 : static_cast<u64>(lead - lowest) << m);
  return sign | (code <= top ? code : beyond);
}

}  // namespace
}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
