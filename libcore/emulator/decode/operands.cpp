// Operands: registers, constants and addresses as virtual registers of the width that an opcode needs.
#include <bit>

#include "emulator/decode/decode.hpp"
#include "kernels/ptx/names.hpp"

namespace kernelcast::emu {

bool wide(LaneType type) {
  return type == LaneType::u64 || type == LaneType::s64 || type == LaneType::f64;
}

std::uint32_t Drafts::pin(Pin const& wanted) {
  auto const key = std::tuple(static_cast<int>(wanted.kind), wanted.wide, wanted.value, wanted.id, int{wanted.bytes},
                              wanted.sign_extended);
  auto [entry, fresh] = pinned.try_emplace(key, 0);
  if (fresh) {
    program.pins.push_back(wanted);
    entry->second = add_register(wanted.wide);
    registers.back().pin = static_cast<std::uint32_t>(program.pins.size() - 1);
  }
  return entry->second;
}

ptx::Type type_named(std::string_view text) {
  static constexpr ptx::Type all[] = {ptx::Type::u8,     ptx::Type::u16, ptx::Type::u32,   ptx::Type::u64,
                                      ptx::Type::s8,     ptx::Type::s16, ptx::Type::s32,   ptx::Type::s64,
                                      ptx::Type::b8,     ptx::Type::b16, ptx::Type::b32,   ptx::Type::b64,
                                      ptx::Type::b128,   ptx::Type::f16, ptx::Type::f16x2, ptx::Type::bf16,
                                      ptx::Type::bf16x2, ptx::Type::f32, ptx::Type::f64,   ptx::Type::pred};
  for (ptx::Type type : all)
    if (ptx::name(type) == text) return type;
  return ptx::Type::none;
}

ptx::Type Decoder::register_type(std::uint32_t id) const {
  return f_.registers[id].type;
}

Opcode const* Decoder::opcode(std::string_view name) {
  // A kernel repeats a few dozen names; the table has many hundreds of patterns.
  Opcode const*& found = opcodes_.try_emplace(std::string(name), nullptr).first->second;
  if (!found) found = find_opcode(*p_.handlers, name);
  if (!found) throw Unsupported{"opcode '" + std::string(name) + "'"};
  return found;
}

Draft& Decoder::emit(Opcode const* opcode, std::vector<std::uint32_t> destinations,
                     std::vector<std::uint32_t> sources) {
  Draft draft = origin_;
  draft.opcode = opcode;
  draft.destinations = std::move(destinations);
  draft.sources = std::move(sources);
  d_.drafts.push_back(std::move(draft));
  return d_.drafts.back();
}

namespace {

std::uint64_t constant_bits(ptx::Operand const& operand, LaneType type) {
  using Kind = ptx::Operand::Kind;
  std::uint64_t bits = operand.value;
  if (operand.kind == Kind::f64 && type == LaneType::f32)
    bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
  if (operand.kind == Kind::f32 && type == LaneType::f64)
    bits = std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
  switch (type) {
    case LaneType::u8:
    case LaneType::s8:
      return bits & 0xff;
    case LaneType::u16:
    case LaneType::s16:
    case LaneType::f16:
      return bits & 0xffff;
    case LaneType::pred:
      return bits ? 0xffffffffu : 0;
    default:
      return bits;
  }
}

bool wide_special(ptx::Special special) {
  return special == ptx::Special::clock64 || special == ptx::Special::globaltimer ||
         special == ptx::Special::current_graph_exec;
}
bool clock_special(ptx::Special special) {
  return special == ptx::Special::clock || special == ptx::Special::clock_hi || special == ptx::Special::clock64 ||
         special == ptx::Special::globaltimer || special == ptx::Special::globaltimer_lo ||
         special == ptx::Special::globaltimer_hi;
}

}  // namespace

std::uint32_t Decoder::variable_address(Operand const& operand) {
  if (operand.kind == Operand::Kind::parameter) {
    if (operand.result) throw Unsupported{"the address of a result"};
    return d_.immediate(f_.parameters[operand.id].offset + operand.value, true);
  }
  if (operand.kind != Operand::Kind::variable) throw Unsupported{"this kind of address"};  // of a function, say
  ptx::Variable const& variable = operand.local ? f_.variables[operand.id] : m_.variables[operand.id];
  switch (variable.space) {
    case ptx::StateSpace::param:
    case ptx::StateSpace::local:
      if (operand.local && p_.whole) return frame_address(operand.id, operand.value);
      if (variable.space == ptx::StateSpace::param) break;
      [[fallthrough]];
    case ptx::StateSpace::shared: {
      std::uint64_t const offset = (operand.local ? local_offsets_ : module_offsets_)[operand.id] + operand.value;
      std::uint32_t const address = d_.immediate(offset, true);
      if (variable.space != ptx::StateSpace::shared || !p_.of_pairs) return address;
      std::uint32_t const with_rank = d_.add_register(true);
      emit("#with_rank.u64", {with_rank}, {address, own_rank()});
      return with_rank;
    }
    case ptx::StateSpace::global:
    case ptx::StateSpace::constant: {
      // A variable declared in the body is numbered after those of the module.
      std::uint32_t const id =
          operand.local ? static_cast<std::uint32_t>(m_.variables.size()) + operand.id : operand.id;
      return d_.pin({Pin::Kind::variable, true, operand.value, id, 0, false, no_slot});
    }
    default:
      break;
  }
  throw Unsupported{"the address of '" + std::string(variable.name) + "' in ." +
                    std::string(ptx::name(variable.space))};
}

// A register of a vector type is a register for each of its elements.
std::uint32_t Decoder::named_register(Operand const& operand) {
  unsigned const count = f_.registers[operand.id].vector;
  if (count == 1 && operand.component == 0) return operand.id;
  if (operand.component == 0) throw Unsupported{"a register of a vector type as a whole"};
  if (operand.component > count) throw Unsupported{"a part of a register"};
  auto [element, fresh] = vector_elements_.try_emplace(4 * operand.id + operand.component - 1u, no_register);
  if (fresh) element->second = d_.add_register(d_.registers[operand.id].wide);
  return element->second;
}

std::vector<ptx::Operand> Decoder::elements_of(Operand const& operand) {
  if (operand.kind == Operand::Kind::vector) return operand.elements;
  std::vector<Operand> elements = {operand};
  if (operand.kind == Operand::Kind::reg && operand.component == 0 && f_.registers[operand.id].vector > 1) {
    elements.assign(f_.registers[operand.id].vector, operand);
    for (std::size_t k = 0; k < elements.size(); ++k) elements[k].component = static_cast<std::uint8_t>(k + 1);
  }
  // %tid and the like as a whole: x, y, z and 0.
  if (operand.kind == Operand::Kind::special && static_cast<ptx::Special>(operand.id) == ptx::Special::other)
    if (auto const x = ptx::find_special(std::string(m_.slice(operand.value)) + ".x")) {
      elements.assign(4, operand);
      for (std::uint32_t k = 0; k < 3; ++k) elements[k].id = static_cast<std::uint32_t>(x->first) + k;
      elements[3] = {};
      elements[3].kind = Operand::Kind::integer;
    }
  return elements;
}

std::uint64_t Decoder::reserved_shared(std::string_view name) const {
  if (name.ends_with("_end")) return reserved_shared_ + reserved_shared_bytes;
  if (name.ends_with("_cap")) return reserved_shared_bytes;
  return name.ends_with("_1") ? reserved_shared_ + reserved_shared_bytes / 2 : reserved_shared_;
}

std::uint32_t Decoder::source(Operand const& operand, LaneType type) {
  using Kind = Operand::Kind;
  std::uint32_t value = no_register;
  switch (operand.kind) {
    case Kind::reg:
      value = named_register(operand);
      break;
    case Kind::integer:
    case Kind::f32:
    case Kind::f64:
      return d_.immediate(constant_bits(operand, type), wide(type));
    case Kind::variable:
    case Kind::parameter:
      value = variable_address(operand);
      break;
    case Kind::function:
      value = d_.immediate(code_address(ptx::without_alias(m_, operand.id)) + operand.value, true);
      break;
    case Kind::special: {
      auto const special = static_cast<ptx::Special>(operand.id);
      if (special == ptx::Special::other) {
        std::string_view const name = m_.slice(operand.value);
        // Performance counters count nothing.
        if (name == "%aggr_smem_size")
          value = d_.pin({Pin::Kind::special, false, 0, static_cast<std::uint32_t>(ptx::Special::total_smem_size), 0,
                          false, no_slot});
        else if (name.starts_with("%reserved_smem"))
          value = d_.immediate(reserved_shared(name), false);
        else if (name.starts_with("%pm"))
          value = d_.immediate(0, true);
        else
          throw Unsupported{"the special register " + std::string(name) + " as a whole"};
      } else if (special == ptx::Special::clock_hi || special == ptx::Special::globaltimer_hi) {
        std::uint32_t const whole = d_.add_register(true);
        value = d_.add_register(false);
        emit(static_cast<Opcode const*>(nullptr), {whole}, {}).kind = Draft::Kind::clock;
        emit("#high.b64", {value}, {whole});
      } else if (clock_special(special)) {
        value = d_.add_register(wide_special(special));
        emit(static_cast<Opcode const*>(nullptr), {value}, {}).kind = Draft::Kind::clock;
      } else {
        value = d_.pin({Pin::Kind::special, wide_special(special), operand.value, operand.id, 0, false, no_slot});
      }
      break;
    }
    default:
      throw Unsupported{"this kind of operand"};
  }
  if (operand.negated) {
    if (type != LaneType::pred && type != LaneType::u32) throw Unsupported{"a negated register"};
    std::uint32_t const inverted = d_.add_register(false);
    emit("#not.pred", {inverted}, {value});
    return inverted;
  }
  bool const is_wide = d_.registers[value].wide;
  if (is_wide == wide(type)) return value;
  if (VirtualRegister const& r = d_.registers[value];
      r.pin != no_register && p_.pins[r.pin].kind == Pin::Kind::immediate)
    return d_.immediate(p_.pins[r.pin].value, wide(type));
  std::uint32_t const converted = d_.add_register(wide(type));
  if (is_wide)
    emit("#low.b64", {converted}, {value});
  else
    emit(type == LaneType::s64 ? "#widen.s32" : "#widen.u32", {converted}, {value});
  return converted;
}

std::uint32_t Decoder::destination(Operand const& operand, LaneType type) {
  if (operand.kind == Operand::Kind::sink) return d_.add_register(wide(type));
  if (operand.kind != Operand::Kind::reg) throw Unsupported{"this kind of destination"};
  std::uint32_t const target = named_register(operand);
  ptx::Type const declared = register_type(operand.id);
  unsigned const bytes = declared == ptx::Type::pred ? 4 : ptx::size_bytes(declared);
  if (bytes > 8) throw Unsupported{"a 128-bit register"};
  char const* conversion = nullptr;
  if (bytes == 8 && !wide(type)) {
    conversion = type == LaneType::s32   ? "#widen.s32"
                 : type == LaneType::s16 ? "#widen.s16"
                 : type == LaneType::s8  ? "#widen.s8"
                                         : "#widen.u32";
  } else if (bytes < 8 && wide(type)) {
    conversion = "#low.b64";
  } else if (bytes == 4 && type == LaneType::s16) {
    conversion = "#extend.s16";
  } else if (bytes == 4 && type == LaneType::s8) {
    conversion = "#extend.s8";
  } else if (bytes == 2 && type == LaneType::s8) {
    conversion = "#extend.s8.to16";
  } else if (bytes == 2 && (type == LaneType::u32 || type == LaneType::s32)) {
    conversion = "#low.b32";
  }
  if (!conversion) return target;
  std::uint32_t const temporary = d_.add_register(wide(type));
  pending_.push_back({opcode(conversion), target, temporary});
  return temporary;
}

void Decoder::finish() {
  for (Conversion const& c : pending_) emit(c.opcode, {c.destination}, {c.source});
  pending_.clear();
}

}  // namespace kernelcast::emu
