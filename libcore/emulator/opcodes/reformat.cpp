// cvt in every form that the table of convert.cpp lacks: directed roundings, tf32, formats of 8, 6 and 4 bits,
// .relu, .satfinite, stochastic rounding. One handler, told what to do by a Reformat.
//
// A NaN becomes the format's canonical one (all ones but the sign), or the largest number where a format has no NaN.
#include "emulator/opcodes/families.hpp"
#include "emulator/opcodes/number.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

bool is_f32(NumberFormat const& f) {
  return f.kind == NumberFormat::Kind::ieee && f.bits == 32;
}
bool is_integer(NumberFormat const& f) {
  return f.kind == NumberFormat::Kind::integer;
}
u64 canonical_nan(NumberFormat const& f) {
  if (f.bits == 64) return 0x7ff8000000000000u;
  return low_bits(f.bits - 1u);
}

u64 convert(Reformat const& c, u64 bits, u32 random, s32 random_bits) {
  Number x = unpack(c.from, bits);
  // f32 below the smallest normal.
  if (c.flush_f32 && is_f32(c.from) && (bits & 0x7f800000u) == 0) x = {Number::Kind::zero, x.negative, 0, 0};
  bool const nan = x.kind == Number::Kind::nan;
  if (is_integer(c.to)) {
    if (is_integer(c.from) && !c.saturate) {  // wraps
      u64 const value = x.negative ? u64{0} - whole_magnitude(x, Rounding::zero) : whole_magnitude(x, Rounding::zero);
      return value & low_bits(c.to.bits);
    }
    bool const wide = c.from.bits == 64 || c.to.bits == 64;
    return to_integer(x, c.to, c.rounding, wide ? u64{1} << (c.to.bits - 1) : 0);
  }
  if (c.integral && x.kind == Number::Kind::finite && x.exponent < 0) {
    bool const negative = x.negative;
    x = normalised(negative, round_off(x.significand, -x.exponent, negative, c.rounding), 0);
  }
  if (c.saturate) {
    bool const above = x.kind == Number::Kind::infinite || (x.kind == Number::Kind::finite && x.exponent >= -63);
    if (nan || x.negative)
      x = {};
    else if (above)
      x = normalised(false, 1, 0);
  }
  if (c.rectify && !nan && x.negative) x = {};
  u64 result = to_float(x, c.to, {c.rounding, c.finite, random, random_bits});
  if (x.kind == Number::Kind::nan && c.to.kind == NumberFormat::Kind::ieee) result = canonical_nan(c.to);
  if (c.flush_f32 && is_f32(c.to) && (result & 0x7f800000u) == 0) result &= 0x80000000u;
  result <<= c.to.shift;
  // tf32 is kept in the format of an f32, whose canonical NaN this is.
  if (c.to.shift && x.kind == Number::Kind::nan) result = 0x7fffffffu;
  return result;
}

// [ptx] "cvt": how many random bits there are for an element, of the 32 that the instruction is given.
s32 random_bits_of(Reformat const& c) {
  return c.to.mantissa_bits == 10 ? 13 : c.to_stride == 4 ? 8 : 16;
}
// Those of element k from below. Two elements have half of the bits each; of four, the lower two share the lower half,
// but of 4 bits they have the lower bytes of both halves (that each has one of its own is an assumption).
u32 random_of(Reformat const& c, u32 word, u32 k) {
  u32 const at = c.elements < 4 ? 16 * k : c.to_stride == 4 ? 16 * (k % 2) + 8 * (k / 2) : 16 * (k / 2);
  return word >> at & static_cast<u32>(low_bits(static_cast<unsigned>(random_bits_of(c))));
}

void reformat(Context& c, MicroOp const& op) {
  auto const& conversion = *static_cast<Reformat const*>(op.data);
  u32 const n = conversion.elements;
  u32 const count = op.operands ? op.sources : 4;
  u32 const* const sources = op.operands ? op.operands + op.destinations : op.s;
  bool const stochastic = conversion.rounding == Rounding::stochastic;
  s32 const random_bits = stochastic ? random_bits_of(conversion) : 0;
  for (u32 warp = 0; warp < c.warps; ++warp)
    for (u32 rest = c.bits[warp]; rest; rest &= rest - 1) {
      auto const lane = static_cast<u32>(std::countr_zero(rest));
      auto value_of = [&](u32 k) -> u64 {
        if (k >= count || sources[k] == no_slot) return 0;
        return conversion.wide_source ? slot<u64>(c, sources[k], warp)[lane] : slot<u32>(c, sources[k], warp)[lane];
      };
      u64 result = 0;
      for (u32 k = 0; k < n; ++k) {  // element k from below
        u64 const bits = conversion.packed_source ? value_of(0) >> k * conversion.from_stride : value_of(n - 1 - k);
        u32 const random = stochastic ? random_of(conversion, static_cast<u32>(value_of(n)), k) : 0;
        result |= convert(conversion, bits, random, random_bits) << k * conversion.to_stride;
      }
      if (conversion.wide_destination)
        slot<u64>(c, op.d[0], warp)[lane] = result;
      else
        slot<u32>(c, op.d[0], warp)[lane] = static_cast<u32>(result);
    }
}

constexpr Opcode make() {
  Opcode opcode;
  opcode.pattern = "#reformat";
  opcode.kind = Class::convert;
  opcode.full = opcode.masked = reformat;
  return opcode;
}
constexpr Opcode table[] = {make()};

}  // namespace

std::span<Opcode const> reformat_opcodes() {
  return table;
}

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
