// cvt beyond the table: reads the modifiers into a Reformat.

#include "emulator/decode/decode.hpp"
#include "emulator/opcodes/reformat.hpp"

namespace kernelcast::emu {

namespace {

using Kind = NumberFormat::Kind;

struct Named {
  std::string_view name;
  NumberFormat format;
  std::uint8_t elements = 1, stride = 0;  // of packed types
};
constexpr NumberFormat integer(std::uint8_t bits, bool is_signed) {
  return {Kind::integer, bits, 0, 0, is_signed, 0};
}
constexpr NumberFormat floating(Kind kind, std::uint8_t exponent, std::uint8_t mantissa, std::uint8_t shift = 0) {
  return {kind, static_cast<std::uint8_t>(1 + exponent + mantissa), exponent, mantissa, true, shift};
}
constexpr NumberFormat f16 = floating(Kind::ieee, 5, 10), bf16 = floating(Kind::ieee, 8, 7),
                       e4m3 = floating(Kind::nan_only, 4, 3), e5m2 = floating(Kind::ieee, 5, 2),
                       e2m3 = floating(Kind::finite_only, 2, 3), e3m2 = floating(Kind::finite_only, 3, 2),
                       e2m1 = floating(Kind::finite_only, 2, 1), ue8m0 = {Kind::exponent_only, 8, 8, 0, false, 0};
constexpr Named formats[] = {
    {"u8", integer(8, false)},
    {"s8", integer(8, true)},
    {"u16", integer(16, false)},
    {"s16", integer(16, true)},
    {"u32", integer(32, false)},
    {"s32", integer(32, true)},
    {"u64", integer(64, false)},
    {"s64", integer(64, true)},
    {"f16", f16},
    {"bf16", bf16},
    {"tf32", floating(Kind::ieee, 8, 10, 13)},
    {"f32", floating(Kind::ieee, 8, 23)},
    {"f64", floating(Kind::ieee, 11, 52)},
    {"f16x2", f16, 2, 16},
    {"bf16x2", bf16, 2, 16},
    {"e4m3x2", e4m3, 2, 8},
    {"e5m2x2", e5m2, 2, 8},
    {"e2m3x2", e2m3, 2, 8},
    {"e3m2x2", e3m2, 2, 8},
    {"e2m1x2", e2m1, 2, 4},
    {"ue8m0x2", ue8m0, 2, 8},
    {"e4m3x4", e4m3, 4, 8},
    {"e5m2x4", e5m2, 4, 8},
    {"e2m3x4", e2m3, 4, 8},
    {"e3m2x4", e3m2, 4, 8},
    {"e2m1x4", e2m1, 4, 4},
};

Named const* find(std::string_view name) {
  for (Named const& n : formats)
    if (n.name == name) return &n;
  return nullptr;
}

LaneType lane_type(Named const& n) {
  bool const sign = n.format.is_signed;
  if (n.elements > 1) {
    int const bits = n.elements * n.stride;
    return bits == 32 ? LaneType::u32 : bits == 16 ? LaneType::u16 : LaneType::u8;
  }
  if (n.format.kind != Kind::integer)
    return n.format.bits == 64 ? LaneType::f64 : n.format.bits == 16 ? LaneType::f16 : LaneType::f32;
  switch (n.format.bits) {
    case 8:
      return sign ? LaneType::s8 : LaneType::u8;
    case 16:
      return sign ? LaneType::s16 : LaneType::u16;
    case 32:
      return sign ? LaneType::s32 : LaneType::u32;
    default:
      return sign ? LaneType::s64 : LaneType::u64;
  }
}

struct RoundingName {
  std::string_view name;
  Rounding rounding;
  bool integral;
};
constexpr RoundingName roundings[] = {
    {"rn", Rounding::nearest_even, false}, {"rna", Rounding::nearest_away, false},
    {"rz", Rounding::zero, false},         {"rm", Rounding::down, false},
    {"rp", Rounding::up, false},           {"rs", Rounding::stochastic, false},
    {"rni", Rounding::nearest_even, true}, {"rzi", Rounding::zero, true},
    {"rmi", Rounding::down, true},         {"rpi", Rounding::up, true},
};

}  // namespace

void Decoder::decode_conversion(Instruction const& i) {
  p_.classes[current_] = Class::convert;
  auto conversion = std::make_shared<Reformat>();
  Reformat& c = *conversion;
  Named const *to = nullptr, *from = nullptr;
  bool rounds = false;
  for (std::string_view m : i.modifiers) {
    bool known = true;
    if (m == "ftz")
      c.flush_f32 = true;
    else if (m == "sat")
      c.saturate = true;
    else if (m == "relu")
      c.rectify = true;
    else if (m == "satfinite")
      c.finite = true;
    else if (Named const* n = find(m))
      (to ? from : to) = n;
    else
      known = false;
    for (RoundingName const& r : roundings)
      if (r.name == m) {
        c.rounding = r.rounding;
        c.integral = r.integral;
        rounds = known = true;
      }
    if (!known) throw Unsupported{"conversion modifier '." + std::string(m) + "'"};
  }
  if (!to || !from) throw Unsupported{"conversion '" + ptx::full_opcode(i) + "'"};
  c.to = to->format;
  c.from = from->format;
  // A float becomes an integer by truncation where nothing else is said, as old programs do.
  if (!rounds && c.to.kind == Kind::integer && c.from.kind != Kind::integer) c.rounding = Rounding::zero;
  c.elements = to->elements;
  c.to_stride = to->stride;
  c.packed_source = from->elements > 1;
  c.from_stride = from->stride;
  if (c.packed_source && from->elements != to->elements) throw Unsupported{"conversion '" + ptx::full_opcode(i) + "'"};
  LaneType const source_type = lane_type(*from), destination_type = lane_type(*to);
  c.wide_source = wide(source_type);
  c.wide_destination = wide(destination_type);
  // Two values are operands of their own, four are one operand.
  std::size_t const values = c.packed_source ? 1 : c.elements, operands = values > 2 ? 1 : values;
  bool const random = c.rounding == Rounding::stochastic;
  if (i.operands.size() != 1 + operands + (random ? 1 : 0) || (c.elements == 4 && !random))
    throw Unsupported{"opcode '" + ptx::full_opcode(i) + "' with " + std::to_string(i.operands.size()) + " operands"};
  std::vector<Operand> from_values(i.operands.begin() + 1,
                                   i.operands.begin() + 1 + static_cast<std::ptrdiff_t>(operands));
  if (operands < values) from_values = elements_of(from_values[0]);
  if (from_values.size() != values) throw refused(i);
  std::vector<std::uint32_t> sources;
  for (Operand const& value : from_values) sources.push_back(source(value, source_type));
  if (random) sources.push_back(source(i.operands.back(), LaneType::u32));
  std::uint32_t const d = destination(i.operands[0], destination_type);
  p_.facts.push_back(conversion);
  emit("#reformat", {d}, std::move(sources)).data = conversion.get();
  finish();
}

}  // namespace kernelcast::emu
