// Video instructions: arithmetic on bytes, half-words and words with selection, saturation, a second operation and
// merging; and two or four at a time. One handler, told what to do by a VideoOperation; as the manual's pseudo code has
// it ([ptx] "Scalar Video Instructions", "SIMD Video Instructions"). What it calls .s33 is exact here.
#include "emulator/opcodes/video.hpp"

#include "emulator/opcodes/families.hpp"
#include "emulator/opcodes/lanewise.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

using V = VideoOperation;
__extension__ typedef __int128 Wide;

Wide least(Wide a, Wide b) {
  return a < b ? a : b;
}
Wide most(Wide a, Wide b) {
  return a < b ? b : a;
}
Wide clamp(Wide x, u32 bits, bool is_signed) {
  Wide const one = 1, low = is_signed ? -(one << (bits - 1)) : 0, high = (one << (is_signed ? bits - 1 : bits)) - 1;
  return x < low ? low : x > high ? high : x;
}
s64 field(u32 word, u32 shift, u32 bits, bool is_signed) {
  u64 const value = u64{word} >> shift & ((u64{1} << bits) - 1);
  bool const negative = is_signed && (value >> (bits - 1) & 1);
  return static_cast<s64>(value) - (negative ? s64{1} << bits : 0);
}
bool holds(V::Comparison c, s64 a, s64 b) {
  switch (c) {
    case V::Comparison::eq:
      return a == b;
    case V::Comparison::ne:
      return a != b;
    case V::Comparison::lt:
      return a < b;
    case V::Comparison::le:
      return a <= b;
    case V::Comparison::gt:
      return a > b;
    case V::Comparison::ge:
      return a >= b;
  }
  return false;
}

Wide primary(V const& v, s64 a, s64 b) {
  switch (v.verb) {
    case V::Verb::add:
      return a + b;
    case V::Verb::sub:
      return a - b;
    case V::Verb::absdiff:
      return a < b ? b - a : a - b;
    case V::Verb::min:
      return a < b ? a : b;
    case V::Verb::max:
      return a < b ? b : a;
    case V::Verb::average:
      return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    case V::Verb::shift_left:
      return Wide{a} * (Wide{1} << (v.wrap ? b & 31 : b > 32 ? 32 : b));
    case V::Verb::shift_right:
      return a >> (v.wrap ? b & 31 : b > 32 ? 32 : b);
    case V::Verb::set:
      return holds(v.comparison, a, b);
    case V::Verb::multiply_add:
      break;
  }
  return 0;
}

u32 multiply_add(V const& v, u32 a, u32 b, u32 c) {
  bool const final_signed = v.a_signed || v.b_signed || v.negate_product || v.negate_c;
  Wide x = Wide{field(a, v.a.shift, v.a.bits, v.a_signed)} * field(b, v.b.shift, v.b.bits, v.b_signed);
  if (v.negate_product) x = ~x;
  if (v.negate_c && !v.plus_one && !v.negate_product) c = ~c;
  x += final_signed ? Wide{static_cast<s32>(c)} : Wide{c};
  x += v.plus_one || v.negate_product || v.negate_c;
  x >>= v.scale;
  return static_cast<u32>(v.saturate ? clamp(x, 32, final_signed) : x);
}

u32 scalar(V const& v, u32 a, u32 b, u32 c) {
  Wide x = primary(v, field(a, v.a.shift, v.a.bits, v.a_signed), field(b, v.b.shift, v.b.bits, v.b_signed));
  if (v.saturate) x = clamp(x, v.d.bits, v.d_signed);
  Wide const third = v.d_signed ? Wide{static_cast<s32>(c)} : Wide{c};
  if (v.second == V::Second::add) x += third;
  if (v.second == V::Second::min) x = least(x, third);
  if (v.second == V::Second::max) x = most(x, third);
  u32 const result = static_cast<u32>(x);
  if (v.d.bits == 32) return result;
  u32 const mask = ((1u << v.d.bits) - 1) << v.d.shift;
  return (result << v.d.shift & mask) | (c & ~mask);
}

u32 parts(V const& v, u32 a, u32 b, u32 c) {
  u32 const bits = 32u / v.parts;
  u64 const pool = u64{b} << 32 | a;
  auto part = [&](u8 index, bool is_signed) {
    return field(static_cast<u32>(pool >> bits * index), 0, bits, is_signed);
  };
  u32 result = v.second == V::Second::add ? c : 0;
  for (u32 i = 0; i < v.parts; ++i) {
    Wide x = primary(v, part(v.a_part[i], v.a_signed), part(v.b_part[i], v.b_signed));
    if (v.saturate) x = clamp(x, bits, v.d_signed);
    bool const wanted = v.mask >> i & 1;
    u32 const mask = static_cast<u32>(((u64{1} << bits) - 1) << bits * i);
    if (v.second == V::Second::add)
      result += wanted ? static_cast<u32>(x) : 0;
    else
      result |= wanted ? static_cast<u32>(x) << bits * i & mask : c & mask;
  }
  return result;
}

void video(Context& c, MicroOp const& op) {
  V const& v = *static_cast<V const*>(op.data);
  for (u32 warp = 0; warp < c.warps; ++warp)
    for (u32 rest = c.bits[warp]; rest; rest &= rest - 1) {
      auto const lane = static_cast<u32>(std::countr_zero(rest));
      u32 const a = slot<u32>(c, op.s[0], warp)[lane], b = slot<u32>(c, op.s[1], warp)[lane];
      u32 const third = op.s[2] == no_slot ? 0 : slot<u32>(c, op.s[2], warp)[lane];
      slot<u32>(c, op.d[0], warp)[lane] = v.verb == V::Verb::multiply_add ? multiply_add(v, a, b, third)
                                          : v.parts == 1                  ? scalar(v, a, b, third)
                                                                          : parts(v, a, b, third);
    }
}

constexpr Opcode make() {
  Opcode opcode;
  opcode.pattern = "#video";
  opcode.kind = Class::int_add;
  opcode.full = opcode.masked = video;
  return opcode;
}
constexpr Opcode table[] = {make()};

}  // namespace

std::span<Opcode const> video_opcodes() {
  return table;
}

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
