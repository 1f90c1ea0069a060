// Arithmetic opcodes against an independent computation on one value at a time: a Case says how an opcode is written
// and what one lane must give. check_all runs it on random operands and the special ones of each type (zero, extremes,
// NaN, infinities, subnormals, wide shift amounts), with all lanes, with a partial group and with a part of the lanes
// masked off, at every instruction-set level of this host.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness.hpp"

namespace kernelcast::emu::test {

using u16 = std::uint16_t;
using u64 = std::uint64_t;
using u32 = std::uint32_t;
using Reference = std::function<u64(u64, u64, u64, u64)>;
__extension__ typedef __int128 s128;
__extension__ typedef unsigned __int128 u128;

// Operands, destination first, one letter each: p predicate, c 8, h 16, w 32, d 64 bits, f f32, g f64, k f16, b bf16,
// x two f16, y two bf16, z two f32. Destinations only: P two predicates (d | q << 1), V a word and a predicate (d | p
// << 32).
struct Case {
  std::string opcode;
  std::string operands;
  Reference reference;
  std::string form = {};  // operands as written, {0} the destination; "{0}, {1}, ..." where empty
};

void check_all(std::vector<Case> const& cases);

inline float f(u64 bits) {
  return std::bit_cast<float>(static_cast<u32>(bits));
}
inline double g(u64 bits) {
  return std::bit_cast<double>(bits);
}
// With the canonical NaN of PTX.
inline u64 bits(float x) {
  return std::isnan(x) ? 0x7fffffffu : std::bit_cast<u32>(x);
}
inline u64 bits(double x) {
  return std::isnan(x) ? 0x7ff8000000000000u : std::bit_cast<u64>(x);
}
inline std::int64_t sx(u64 value, int width) {
  return static_cast<std::int64_t>(value << (64 - width)) >> (64 - width);
}
inline u64 zx(u64 value, int width) {
  return width == 64 ? value : value & ((u64{1} << width) - 1);
}
inline u64 pred(bool x) {
  return x ? 1 : 0;
}

}  // namespace kernelcast::emu::test
