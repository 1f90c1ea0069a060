// Scalar floating-point pieces of the opcode families: flushing, saturation, halves, and the approximate functions.
#pragma once

#include <cmath>

#include "emulator/opcodes/lanewise.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {

inline f32 flush(f32 x) {
  u32 const bits = std::bit_cast<u32>(x);
  return std::bit_cast<f32>((bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits);
}
// To [0, 1]; NaN becomes 0, as .sat says.
template <class T>
inline T saturate(T x) {
  T const low = x > T{0} ? x : T{0};
  return low < T{1} ? low : T{1};
}

inline f32 from_half(Half h) {
  u32 const bits = static_cast<u16>(h), sign = (bits & 0x8000u) << 16, rest = bits & 0x7fffu;
  f32 const magnitude = std::bit_cast<f32>(rest << 13) * std::bit_cast<f32>(0x77800000u);  // 2^112
  u32 const wide = rest >= 0x7c00u ? 0x7f800000u | rest << 13 : std::bit_cast<u32>(magnitude);
  return std::bit_cast<f32>(sign | wide);
}
// To nearest even. Adding a power of two makes the FPU round at the right bit: for normals through the integer carry,
// for subnormals through an addition of 0.5.
inline Half to_half(f32 x) {
  u32 const bits = std::bit_cast<u32>(x), sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
  u32 const normal = (rest - 0x38000000u + 0xfffu + (rest >> 13 & 1)) >> 13;
  u32 const tiny = std::bit_cast<u32>(std::bit_cast<f32>(rest) + 0.5f) - 0x3f000000u;
  u32 const finite = rest < 0x38800000u ? tiny : normal;
  u32 const result = rest > 0x7f800000u ? 0x7fffu : rest >= 0x477ff000u ? 0x7c00u : finite;
  return static_cast<Half>(static_cast<u16>(rest > 0x7f800000u ? result : sign | result));
}
inline f32 from_brain(Brain b) {
  return std::bit_cast<f32>(u32{static_cast<u16>(b)} << 16);
}
inline Brain to_brain(f32 x) {
  u32 const bits = std::bit_cast<u32>(x), rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
  return static_cast<Brain>(static_cast<u16>(x != x ? 0x7fffu : rounded));
}

// The two formats of 16 bits by one name.
inline f32 widen(Half h) {
  return from_half(h);
}
inline f32 widen(Brain b) {
  return from_brain(b);
}
template <class H>
H narrow(f32 x) {
  if constexpr (std::is_same_v<H, Half>)
    return to_half(x);
  else
    return to_brain(x);
}
template <class H>
constexpr u16 exponent_of = std::is_same_v<H, Half> ? 0x7c00 : 0x7f80;
template <class H>
constexpr u16 one_of = std::is_same_v<H, Half> ? 0x3c00 : 0x3f80;
constexpr u16 nan_of_16_bits = 0x7fff;
template <class H>
H flush_16(H h) {
  u32 const bits = static_cast<u16>(h);
  return static_cast<H>(static_cast<u16>((bits & exponent_of<H>) == 0 ? bits & 0x8000u : bits));
}

// A value rounded to odd (the last bit tells that something was lost) can be rounded again, to a format at least two
// bits shorter, as if it were exact.
inline f32 to_odd(f64 x) {
  f32 const nearest = static_cast<f32>(x);
  u32 bits = std::bit_cast<u32>(nearest);
  f64 const back = static_cast<f64>(nearest);
  bool const away = (back > x) == (x > 0) && back != x;
  if (back != x && x == x && (bits & 1) == 0) bits = away ? bits - 1 : bits | 1;
  return std::bit_cast<f32>(bits);
}
// a + b to odd. What rounding to nearest loses is itself a double (two-sum).
inline f64 odd_sum(f64 a, f64 b) {
  f64 const sum = a + b, of_b = sum - a, lost = (a - (sum - of_b)) + (b - of_b);
  u64 const bits = std::bit_cast<u64>(sum);
  bool const inexact = lost < 0 || lost > 0, beyond = (lost > 0) == (sum > 0);
  return std::bit_cast<f64>(inexact && (bits & 1) == 0 ? (beyond ? bits + 1 : bits - 1) : bits);
}
// a * b + c in 16 bits, rounded once: the product is exact in double precision.
template <class H>
H fuse_16(H a, H b, H c) {
  return narrow<H>(
      to_odd(odd_sum(static_cast<f64>(widen(a)) * static_cast<f64>(widen(b)), static_cast<f64>(widen(c)))));
}

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
