// Loads, stores, moves and address conversions: their modifiers decide more than a table of patterns can hold.
#include <algorithm>

#include "emulator/decode/modifiers.hpp"

namespace kernelcast::emu {

namespace {

using ptx::StateSpace;
using ptx::Type;

bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}

bool call_parameter(ptx::Operand const& address, ptx::Function const& f) {
  ptx::Operand const& base = address.elements.at(0);
  return base.kind == ptx::Operand::Kind::variable && base.local && f.variables[base.id].space == StateSpace::param;
}

}  // namespace

// A register of 128 bits is two of 64 bits: the declared one holds the lower half.
std::vector<std::uint32_t> Decoder::halves(Operand const& operand) {
  if (operand.kind == Operand::Kind::sink) return {d_.add_register(true), d_.add_register(true)};
  if (operand.kind == Operand::Kind::integer) return {d_.immediate(operand.value, true), d_.immediate(0, true)};
  if (operand.kind != Operand::Kind::reg || operand.component != 0 || register_type(operand.id) != Type::b128)
    throw Unsupported{"an operand of 128 bits that is not a register of 128 bits"};
  auto [upper, fresh] = upper_halves_.try_emplace(operand.id, no_register);
  if (fresh) upper->second = d_.add_register(true);
  return {operand.id, upper->second};
}

// Appends a draft whose access describes where the memory is; sources[0] is the address.
Draft& Decoder::add_access(Draft::Kind kind, Instruction const& i, StateSpace space, Type type, unsigned elements,
                           Operand const& address) {
  unsigned const element_bytes = ptx::size_bytes(type);
  if (element_bytes == 0 || element_bytes > 8 || elements > 8)
    throw Unsupported{"opcode '" + ptx::full_opcode(i) + "'"};
  if (address.kind != Operand::Kind::address || address.elements.empty()) throw Unsupported{"this kind of address"};
  Access access;
  access.space = space;
  access.direction = kind == Draft::Kind::load    ? Direction::load
                     : kind == Draft::Kind::store ? Direction::store
                                                  : Direction::atomic;
  access.element_bytes = static_cast<std::uint8_t>(element_bytes);
  access.elements = static_cast<std::uint8_t>(elements);
  access.bytes = static_cast<std::uint8_t>(element_bytes * elements);
  access.displacement = address.value;
  Operand const& base = address.elements[0];
  std::uint32_t location = 0;
  if (base.kind == Operand::Kind::integer)
    location = d_.immediate(base.value, true);
  else if (base.kind == Operand::Kind::reg)
    location = base.id;
  else if (lies_in_call_frame(base)) {
    location = frame();
    access.displacement += local_offsets_[base.id] + base.value;
  } else
    location = variable_address(base);
  access.address = d_.registers[location].wide ? Access::Address::wide : Access::Address::narrow;
  if (space == StateSpace::generic) p_.uses_generic = true;
  p_.accesses.push_back(access);
  Draft& draft = emit(static_cast<Opcode const*>(nullptr), {}, {location});
  draft.kind = kind;
  draft.access = static_cast<std::uint32_t>(p_.accesses.size() - 1);
  return draft;
}

// A kernel parameter at a known offset is a value, not an access.
bool Decoder::load_parameter(Instruction const&, Type type, std::span<Operand const> values, Operand const& address) {
  Operand const& base = address.elements.at(0);
  if (base.kind != Operand::Kind::parameter || base.result) return false;
  unsigned const bytes = ptx::size_bytes(type);
  std::uint64_t offset = f_.parameters[base.id].offset + base.value + address.value;
  // Anything else is an access that is refused, or found out of bounds, when it is reached.
  if (bytes == 0 || bytes > 8 || offset > f_.parameter_bytes || bytes * values.size() > f_.parameter_bytes - offset)
    return false;
  for (Operand const& value : values) {
    if (value.kind == Operand::Kind::reg) {
      std::uint32_t const to = named_register(value);
      bool const is_wide = ptx::size_bytes(register_type(value.id)) == 8;
      std::uint32_t const pin = d_.pin(
          {Pin::Kind::parameter, is_wide, offset, 0, static_cast<std::uint8_t>(bytes), is_signed(type), no_slot});
      if (ptx::size_bytes(register_type(value.id)) == 2 && is_signed(type) && bytes == 1)
        emit("#low.b32", {to}, {pin});
      else
        emit(is_wide ? "#mov.b64" : "#mov.b32", {to}, {pin}).copy = true;
    }
    offset += bytes;
  }
  return true;
}

void Decoder::decode_load(Instruction const& i) {
  AccessModifiers const m = read_access(i);
  Operand const& address = i.operands.at(1);
  std::vector<Operand> const values = elements_of(i.operands.at(0));
  if (address.kind != Operand::Kind::address) throw Unsupported{"this kind of address"};
  if (m.space == StateSpace::param) {
    if (call_parameter(address, f_)) {  // of no call: it has no value
      for (Operand const& value : values)
        if (value.kind == Operand::Kind::reg) {
          bool const is_wide = ptx::size_bytes(register_type(value.id)) == 8;
          emit(is_wide ? "#mov.b64" : "#mov.b32", {value.id}, {d_.immediate(0, is_wide)});
        }
      return;
    }
    if (load_parameter(i, m.type, values, address)) return;
  }
  if (m.type == Type::b128) {
    std::vector<std::uint32_t> destinations;
    for (Operand const& value : values)
      for (std::uint32_t half : halves(value)) destinations.push_back(half);
    if (values.size() != m.elements) throw Unsupported{"a vector of another length than its type"};
    Draft& draft = add_access(Draft::Kind::load, i, m.space, Type::b64, 2 * m.elements, address);
    draft.extension = Extension::b64;
    draft.destinations = std::move(destinations);
    return;
  }
  if (values.size() != m.elements) throw Unsupported{"a vector of another length than its type"};
  add_access(Draft::Kind::load, i, m.space, m.type, m.elements, address);
  std::size_t const at = d_.drafts.size() - 1;
  unsigned const bytes = ptx::size_bytes(m.type);
  bool const sign = is_signed(m.type);
  Extension extension = bytes == 8   ? Extension::b64
                        : bytes == 4 ? Extension::b32
                        : bytes == 2 ? Extension::u16
                                     : Extension::u8;
  std::vector<std::uint32_t> destinations;
  for (Operand const& value : values) {
    unsigned const held = value.kind == Operand::Kind::reg ? ptx::size_bytes(register_type(value.id)) : bytes;
    if (sign && bytes == 1 && held > 1) extension = held == 2 ? Extension::s8_to_16 : Extension::s8;
    if (sign && bytes == 2 && held > 2) extension = Extension::s16;
    // The loaded value is already extended to 32 bits; only a 64-bit register needs more.
    LaneType const type = bytes == 8  ? LaneType::u64
                          : held == 8 ? (sign ? LaneType::s32 : LaneType::u32)
                                      : LaneType::u16;
    destinations.push_back(destination(value, type));
  }
  d_.drafts[at].extension = extension;
  d_.drafts[at].destinations = std::move(destinations);
  finish();
}

void Decoder::decode_store(Instruction const& i) {
  if (i.has("bulk")) return decode_bulk_fill(i);
  if (i.has("mbarrier::complete_tx::bytes")) return decode_async_store(i);
  AccessModifiers const m = read_access(i);
  Operand const& address = i.operands.at(0);
  if (address.kind != Operand::Kind::address) throw Unsupported{"this kind of address"};
  if (m.space == StateSpace::param) return;  // not an argument of any call
  std::vector<Operand> const values = elements_of(i.operands.at(1));
  if (values.size() != m.elements) throw Unsupported{"a vector of another length than its type"};
  bool const whole = m.type == Type::b128;
  std::vector<std::uint32_t> data;
  for (Operand const& value : values) {
    if (whole)
      for (std::uint32_t half : halves(value)) data.push_back(half);
    else if (value.kind == Operand::Kind::sink && m.elements > 1)
      data.push_back(no_register);  // this element of memory stays as it is
    else
      data.push_back(source(value, m.type == Type::f64            ? LaneType::f64
                                   : m.type == Type::f32          ? LaneType::f32
                                   : ptx::size_bytes(m.type) == 8 ? LaneType::u64
                                                                  : LaneType::u32));
  }
  Draft& draft = add_access(Draft::Kind::store, i, m.space, whole ? Type::b64 : m.type,
                            whole ? 2 * m.elements : m.elements, address);
  draft.sources.insert(draft.sources.end(), data.begin(), data.end());
  p_.accesses.back().sparse = std::find(data.begin(), data.end(), no_register) != data.end();
}

void Decoder::decode_move(Instruction const& i) {
  using Kind = Operand::Kind;
  if (i.operands.size() == 2 && i.modifiers.size() == 2) return move_vector(i);
  if (i.operands.size() != 2 || i.modifiers.size() != 1) throw Unsupported{"opcode '" + ptx::full_opcode(i) + "'"};
  // GCC moves a register of a vector type as a whole: mov.b64 d, a with a of type .v2 .u32.
  auto const in_parts = [&](Operand const& operand) {
    if (operand.kind != Kind::reg || operand.component != 0 || f_.registers[operand.id].vector == 1) return operand;
    Operand made;
    made.kind = Kind::vector;
    made.elements = elements_of(operand);
    return made;
  };
  Operand const to = in_parts(i.operands[0]), from = in_parts(i.operands[1]);
  unsigned const bytes = ptx::size_bytes(type_named(i.modifiers[0]));
  p_.classes[current_] = Class::other;
  if (bytes == 16) return move_128(i);
  if (from.kind == Kind::vector) {
    // Parts are joined pairwise: {a, b} of half the width, {a, b, c, d} of a quarter.
    std::vector<std::uint32_t> parts;
    unsigned part_bytes = bytes / static_cast<unsigned>(from.elements.size());
    if (part_bytes == 0) throw Unsupported{"parts of less than a byte"};
    for (Operand const& part : from.elements)
      parts.push_back(source(part, part_bytes == 4 ? LaneType::u32 : LaneType::u16));
    while (parts.size() > 1) {
      std::vector<std::uint32_t> joined;
      for (std::size_t k = 0; k + 1 < parts.size(); k += 2) {
        bool const last = parts.size() == 2;
        std::uint32_t const whole = last ? destination(to, bytes == 8   ? LaneType::u64
                                                           : bytes == 4 ? LaneType::u32
                                                                        : LaneType::u16)
                                         : d_.add_register(part_bytes == 4);
        emit(part_bytes == 4   ? "#pack.b32"
             : part_bytes == 2 ? "#pack.b16"
                               : "#pack.b8",
             {whole}, {parts[k], parts[k + 1]});
        joined.push_back(whole);
      }
      parts = std::move(joined);
      part_bytes *= 2;
    }
    return finish();
  }
  if (to.kind == Kind::vector) {
    std::vector<std::uint32_t> parts = {source(from, bytes == 8   ? LaneType::u64
                                                     : bytes == 4 ? LaneType::u32
                                                                  : LaneType::u16)};
    unsigned part_bytes = bytes;
    while (parts.size() < to.elements.size()) {
      std::vector<std::uint32_t> halves;
      bool const last = parts.size() * 2 == to.elements.size();
      for (std::uint32_t whole : parts)
        for (int high = 0; high < 2; ++high) {
          std::string const name = std::string(high ? "#high.b" : "#low.b") + std::to_string(8 * part_bytes);
          std::uint32_t const half =
              last ? destination(to.elements[halves.size()], part_bytes == 8 ? LaneType::u32 : LaneType::u16)
                   : d_.add_register(false);
          emit(name, {half}, {whole});
          halves.push_back(half);
        }
      parts = std::move(halves);
      part_bytes /= 2;
    }
    return finish();
  }
  decode_arithmetic(i);
}

// mov.v4.u32 d, %tid; and between registers of vector types.
void Decoder::move_vector(Instruction const& i) {
  std::vector<Operand> const to = elements_of(i.operands[0]), from = elements_of(i.operands[1]);
  bool const counts = (i.modifiers[0] == "v2" && to.size() == 2) || (i.modifiers[0] == "v4" && to.size() == 4);
  if (!counts || from.size() < to.size()) throw Unsupported{"opcode '" + ptx::full_opcode(i) + "'"};
  Opcode const* move = opcode("mov." + std::string(i.modifiers[1]));
  p_.classes[current_] = Class::other;
  std::vector<std::uint32_t> values;
  for (std::size_t k = 0; k < to.size(); ++k) {
    values.push_back(d_.add_register(wide(move->sources[0])));
    emit(move, {values.back()}, {source(from[k], move->sources[0])});
  }
  for (std::size_t k = 0; k < to.size(); ++k) emit(move, {destination(to[k], move->destinations[0])}, {values[k]});
  finish();
}

// mov.b128 d, a; d, {lower, upper}; {lower, upper}, a.
void Decoder::move_128(Instruction const& i) {
  auto parts = [&](Operand const& operand, bool written) {
    if (operand.kind != Operand::Kind::vector) return halves(operand);
    if (operand.elements.size() != 2) throw Unsupported{"parts of 128 bits that are not 64 bits wide"};
    std::vector<std::uint32_t> result;
    for (Operand const& e : operand.elements)
      result.push_back(written ? destination(e, LaneType::u64) : source(e, LaneType::u64));
    return result;
  };
  std::vector<std::uint32_t> const from = parts(i.operands[1], false), to = parts(i.operands[0], true);
  // Through temporaries: the destinations may be the sources, crosswise.
  std::uint32_t const lower = d_.add_register(true), upper = d_.add_register(true);
  emit("#mov.b64", {lower}, {from[0]}).copy = true;
  emit("#mov.b64", {upper}, {from[1]}).copy = true;
  emit("#mov.b64", {to[0]}, {lower});
  emit("#mov.b64", {to[1]}, {upper});
  finish();
}

void Decoder::decode_address_conversion(Instruction const& i) {
  // cvta.space: into generic; cvta.to.space: out of it.
  bool const out = i.modifiers.at(0) == "to";
  AccessModifiers const m = read_access(i);
  p_.classes[current_] = Class::convert;
  if (m.type != Type::u64) throw Unsupported{"a 32-bit generic address"};
  std::uint32_t const a = source(i.operands.at(1), LaneType::u64);
  std::uint32_t const d = destination(i.operands.at(0), LaneType::u64);
  std::uint64_t const window = m.space == StateSpace::shared  ? shared_window
                               : m.space == StateSpace::local ? local_window
                               : m.space == StateSpace::param ? parameter_window
                                                              : 0;
  if (window == 0)
    emit("#mov.b64", {d}, {a}).copy = true;
  else
    emit(out ? "#out_of_window" : "#into_window", {d}, {a, d_.immediate(window, true)});
  finish();
}

void Decoder::decode_space_test(Instruction const& i) {
  StateSpace const space = read_access(i).space;
  p_.classes[current_] = Class::int_add;
  std::uint32_t const a = source(i.operands.at(1), LaneType::u64);
  std::uint32_t const d = destination(i.operands.at(0), LaneType::pred);
  if (space == StateSpace::global)
    emit("#in_no_window", {d}, {a});
  else if (space == StateSpace::constant)
    emit("#mov.b32", {d}, {d_.immediate(0, false)});
  else
    emit("#in_window", {d},
         {a, d_.immediate(space == StateSpace::shared  ? shared_window
                          : space == StateSpace::local ? local_window
                                                       : parameter_window,
                          true)});
  finish();
}

void Decoder::decode_fence(Instruction const& i) {
  p_.classes[current_] = Class::sync;
  // A proxy fence orders what this CTA did by other means; a plain one beyond the CTA asks for groups in order.
  for (std::string_view m : i.modifiers)
    if (m == "gl" || m == "sys" || m == "gpu") p_.order_dependent = true;
}

// mapa and getctarank: addresses in other groups' shared memory have the rank in them, the group's own do not. Cache
// policies have no effect.
void Decoder::decode_cluster(Instruction const& i) {
  bool const policy = i.is(ptx::Op::createpolicy);
  Type const type = type_named(i.modifiers.empty() ? std::string_view{} : i.modifiers.back());
  if (type != Type::u32 && type != Type::u64 && !(policy && type == Type::b64)) throw refused(i);
  bool const wide = ptx::size_bytes(type) == 8;
  LaneType const lane = wide ? LaneType::u64 : LaneType::u32;
  if (policy) {
    std::uint32_t const d = destination(i.operands.at(0), lane);
    emit("#mov.b64", {d}, {d_.immediate(0, true)}).copy = true;
    return finish();
  }
  std::vector<std::uint32_t> sources = {source(i.operands.at(1), lane)};
  bool const maps = i.is(ptx::Op::mapa);
  if (maps) sources.push_back(source(i.operands.at(2), LaneType::u32));
  sources.push_back(own_rank());
  // The rank is of 32 bits whatever the address is.
  std::uint32_t const d = destination(i.operands.at(0), maps ? lane : LaneType::u32);
  emit(maps ? (wide ? "#mapa.u64" : "#mapa.u32") : (wide ? "#ctarank.u64" : "#ctarank.u32"), {d}, std::move(sources));
  finish();
}

}  // namespace kernelcast::emu
