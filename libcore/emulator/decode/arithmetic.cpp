// Arithmetic opcodes from the table, and the few that are made of several entries.
#include <algorithm>
#include <bit>

#include "emulator/decode/decode.hpp"
#include "kernels/ptx/names.hpp"

namespace kernelcast::emu {

namespace {

// The comparison that holds exactly where this one does not.
std::string_view complement(std::string_view comparison, bool floating) {
  static constexpr std::pair<std::string_view, std::string_view> integers[] = {
      {"eq", "ne"}, {"lt", "ge"}, {"le", "gt"}, {"lo", "hs"}, {"ls", "hi"}};
  static constexpr std::pair<std::string_view, std::string_view> floats[] = {
      {"eq", "neu"}, {"ne", "equ"}, {"lt", "geu"}, {"le", "gtu"}, {"gt", "leu"}, {"ge", "ltu"}, {"num", "nan"}};
  auto search = [&](auto const& table) -> std::string_view {
    for (auto const& [a, b] : table) {
      if (a == comparison) return b;
      if (b == comparison) return a;
    }
    throw Unsupported{"comparison '" + std::string(comparison) + "'"};
  };
  return floating ? search(floats) : search(integers);
}

std::vector<ptx::Operand> results(ptx::Operand const& first) {
  if (first.kind == ptx::Operand::Kind::list) return first.elements;
  return {first};
}

// A product with a constant power of two, as address arithmetic is full of; every device's compiler makes it a shift.
bool is_scaling(ptx::Instruction const& i) {
  if (!i.is(ptx::Op::mul) || i.operands.size() != 3 || i.modifiers.front() == "hi") return false;
  auto const power_of_two = [](ptx::Operand const& o) {
    return o.kind == ptx::Operand::Kind::integer && std::has_single_bit(o.value);
  };
  return power_of_two(i.operands[1]) || power_of_two(i.operands[2]);
}

// Types last, as the table has them, wherever the text has them.
std::string types_last(ptx::Instruction const& i) {
  std::string others(i.opcode.text()), types;
  for (std::string_view m : i.modifiers)
    (type_named(m) == ptx::Type::none && !m.ends_with("x2") ? others : types) += "." + std::string(m);
  return others + types;
}

// What is known to exist but needs more than one device has.
std::string why_not(ptx::Instruction const& i) {
  if (i.is(ptx::Op::multimem)) return "there is one device here";
  return "opcode '" + ptx::full_opcode(i) + "'";
}

}  // namespace

void Decoder::decode_arithmetic(Instruction const& i) {
  std::string name = ptx::full_opcode(i);
  bool const of_three = i.is(ptx::Op::min, ptx::Op::max) && i.operands.size() == 4;
  if (of_three) name = "#three." + name;
  Opcode const* found = find_opcode(*p_.handlers, name);
  if (!found && !of_three) found = find_opcode(*p_.handlers, types_last(i));
  if (!found && i.is(ptx::Op::cvt)) return decode_conversion(i);
  if (!found && i.is(ptx::Op::lop3) && i.modifiers.size() == 2) return decode_select_and_test(i);
  if (!found) throw Unsupported{why_not(i)};
  p_.classes[current_] = found->kind == Class::int_mul && is_scaling(i) ? Class::shift : found->kind;
  if (i.operands.empty()) throw Unsupported{"an opcode without operands"};
  std::vector<std::uint32_t> sources, destinations;
  std::size_t count = 0;
  while (count < 4 && found->sources[count] != LaneType::none) ++count;
  if (i.operands.size() != count + 1) throw Unsupported{std::to_string(i.operands.size()) + " operands"};
  for (std::size_t k = 0; k < count; ++k) sources.push_back(source(i.operands[k + 1], found->sources[k]));
  std::vector<Operand> const written = results(i.operands[0]);
  for (std::size_t k = 0; k < written.size(); ++k) {
    if (k == 2 || found->destinations[k] == LaneType::none) throw Unsupported{"this many destinations"};
    destinations.push_back(destination(written[k], found->destinations[k]));
  }
  Draft& draft = emit(found, destinations, sources);
  LaneType const type = found->destinations[0];
  // cvt.u32.u16 changes nothing: short values are kept zero-extended.
  bool const zero_extension = i.is(ptx::Op::cvt) && found->pattern == "cvt.u32.u16" &&
                              i.operands[1].kind == Operand::Kind::reg &&
                              ptx::size_bytes(register_type(i.operands[1].id)) == 2;
  draft.copy = (i.is(ptx::Op::mov) && (type == found->sources[0])) || zero_extension;
  finish();
}

// lop3.BoolOp.b32 d|p, a, b, c, table, q: p = (d != 0) BoolOp q.
void Decoder::decode_select_and_test(Instruction const& i) {
  std::string_view const combination = i.modifiers[0];
  if ((combination != "or" && combination != "and") || i.operands.size() != 6)
    throw Unsupported{"opcode '" + ptx::full_opcode(i) + "'"};
  p_.classes[current_] = Class::logic;
  std::vector<Operand> const written = results(i.operands[0]);
  if (written.size() != 2) throw Unsupported{"other than two destinations"};
  std::vector<std::uint32_t> sources;
  for (std::size_t k = 1; k < 5; ++k) sources.push_back(source(i.operands[k], LaneType::u32));
  std::uint32_t const q = source(i.operands[5], LaneType::pred);
  std::uint32_t const value = d_.add_register(false), nonzero = d_.add_register(false);
  std::uint32_t const both = d_.add_register(false);
  emit("lop3.b32", {value}, std::move(sources));
  emit("setp.ne.u32", {nonzero}, {value, d_.immediate(0, false)});
  emit(std::string(combination) + ".pred", {both}, {nonzero, q});
  emit("#mov.b32", {destination(written[0], LaneType::u32)}, {value});
  emit("#mov.b32", {destination(written[1], LaneType::pred)}, {both});
  finish();
}

// The two values in registers of .f16x2 and .bf16x2.
std::pair<std::uint32_t, std::uint32_t> Decoder::both_values(std::uint32_t packed) {
  std::uint32_t const upper = d_.add_register(false);
  emit("#high.b32", {upper}, {packed});
  return {packed, upper};  // an operand of 16 bits is the lower half
}

// setp and set: comparison, then the combination with a third predicate, for each destination. Of packed values, p and
// q of setp are the lower and the upper comparison.
void Decoder::decode_comparison(Instruction const& i) {
  std::vector<std::string_view> modifiers = i.modifiers;
  bool const set = i.is(ptx::Op::set);
  if (modifiers.size() < (set ? 3u : 2u) || i.operands.size() < 3)
    throw Unsupported{"opcode '" + ptx::full_opcode(i) + "'"};
  // GCC writes the type of the result first (set.u32.ge.s32), which ptxas takes, too.
  if (set && ptx::find_type(modifiers[0])) std::rotate(modifiers.begin(), modifiers.begin() + 1, modifiers.end() - 1);
  std::string_view const result = set ? modifiers[modifiers.size() - 2] : "pred";
  if (set) modifiers.erase(modifiers.end() - 2);
  std::string_view const comparison = modifiers[0];
  std::string_view combination;
  if (modifiers[1] == "and" || modifiers[1] == "or" || modifiers[1] == "xor") combination = modifiers[1];
  std::string rest;
  for (std::size_t k = combination.empty() ? 1 : 2; k < modifiers.size(); ++k) rest += "." + std::string(modifiers[k]);
  bool const floating = modifiers.back().front() == 'f' || modifiers.back().starts_with("bf");
  bool const packed = rest.ends_with("x2");
  if (packed) rest.resize(rest.size() - 2);
  Opcode const* compare = opcode("setp." + std::string(comparison) + rest);
  p_.classes[current_] = compare->kind;
  std::uint32_t a = source(i.operands[1], packed ? LaneType::u32 : compare->sources[0]);
  std::uint32_t b = source(i.operands[2], packed ? LaneType::u32 : compare->sources[1]);
  std::uint32_t const third = combination.empty() ? no_register : source(i.operands.at(3), LaneType::pred);
  auto combined = [&](std::uint32_t predicate) {
    if (combination.empty()) return predicate;
    std::uint32_t const both = d_.add_register(false);
    emit(std::string(combination) + ".pred", {both}, {predicate, third});
    return both;
  };
  auto compared = [&](Opcode const* op, std::uint32_t x, std::uint32_t y) {
    std::uint32_t const predicate = d_.add_register(false);
    emit(op, {predicate}, {x, y});
    return combined(predicate);
  };

  std::vector<Operand> const written = results(i.operands[0]);
  if (written.size() > 2 || (set && written.size() != 1)) throw Unsupported{"this many destinations"};
  if (!set && !packed && written.size() == 1 && combination.empty()) {
    emit(compare, {destination(written[0], LaneType::pred)}, {a, b});
    return finish();
  }
  std::vector<std::uint32_t> predicates;
  if (packed) {
    auto const [a0, a1] = both_values(a);
    auto const [b0, b1] = both_values(b);
    predicates = {compared(compare, a0, b0), compared(compare, a1, b1)};
  } else {
    predicates = {compared(compare, a, b)};
    if (written.size() == 2) {
      Opcode const* opposite = opcode("setp." + std::string(complement(comparison, floating)) + rest);
      predicates.push_back(compared(opposite, a, b));
    }
  }
  if (set) {
    Opcode const* write = opcode((packed ? "#set.both." : "#set.") + std::string(result));
    emit(write, {destination(written[0], write->destinations[0])}, std::move(predicates));
  } else {
    for (std::size_t k = 0; k < written.size(); ++k)
      if (written[k].kind != Operand::Kind::sink)
        emit("#mov.b32", {destination(written[k], LaneType::pred)}, {predicates[k]}).copy = true;
  }
  finish();
}

// add.cc, addc, sub.cc, subc, mad.cc, madc: the condition code is a register of its own.
void Decoder::decode_carry(Instruction const& i) {
  bool const reads = i.is(ptx::Op::addc, ptx::Op::subc, ptx::Op::madc), multiplies = i.is(ptx::Op::mad, ptx::Op::madc);
  std::vector<std::string_view> modifiers = i.modifiers;
  bool const writes = std::erase(modifiers, "cc") != 0;
  if (modifiers.empty()) throw Unsupported{"opcode '" + ptx::full_opcode(i) + "'"};
  std::string const type(modifiers.back());
  if (carry_ == no_register) carry_ = d_.add_register(false);
  bool const subtract = i.is(ptx::Op::sub, ptx::Op::subc);
  p_.classes[current_] = multiplies ? Class::int_mul : Class::int_add;

  Opcode const* sum = opcode((subtract ? "#subc." : "#addc.") + type);
  std::uint32_t a = 0, b = 0;
  if (multiplies) {
    Opcode const* product = opcode("mul." + std::string(modifiers.at(0)) + "." + type);
    a = d_.add_register(wide(sum->sources[0]));
    emit(product, {a}, {source(i.operands.at(1), product->sources[0]), source(i.operands.at(2), product->sources[1])});
    b = source(i.operands.at(3), sum->sources[1]);
  } else {
    a = source(i.operands.at(1), sum->sources[0]);
    b = source(i.operands.at(2), sum->sources[1]);
  }
  std::uint32_t const in = reads ? carry_ : d_.immediate(0, false);
  std::uint32_t const out = d_.add_register(false);
  if (writes) emit((subtract ? "#borrow." : "#carry.") + type, {out}, {a, b, in});
  emit(sum, {destination(i.operands.at(0), sum->destinations[0])}, {a, b, in});
  if (writes) emit("#mov.b32", {carry_}, {out});
  finish();
}

}  // namespace kernelcast::emu
