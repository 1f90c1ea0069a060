// atom and red: the table's opcode without space, scope and ordering; and which of them commute.
#include <algorithm>

#include "emulator/decode/modifiers.hpp"

namespace kernelcast::emu {

using ptx::Operand;
using ptx::StateSpace;
using ptx::Type;

namespace {

// "add.u32"; empty where the order of two such updates of one place shows afterwards.
std::string commuting_update(ptx::Instruction const& i) {
  static constexpr std::string_view updates[] = {"add", "min", "max", "and", "or", "xor"};
  static constexpr std::string_view orders[] = {"acquire", "release", "acq_rel"};
  std::string_view update;
  Type type = Type::none;
  for (std::string_view const m : i.modifiers) {
    if (std::ranges::find(orders, m) != std::end(orders)) return {};
    if (std::ranges::find(updates, m) != std::end(updates)) update = m;
    if (Type const named = type_named(m); named != Type::none) type = named;
  }
  static constexpr Type integers[] = {Type::u32, Type::s32, Type::u64, Type::s64, Type::b32, Type::b64};
  if (update.empty() || std::ranges::find(integers, type) == std::end(integers)) return {};
  if (update == "add") return "add." + std::to_string(ptx::size_bytes(type));
  return std::string(update) + "." + std::string(ptx::name(type));
}

void count_registers(Operand const& operand, std::vector<std::uint32_t>& mentions) {
  if (operand.kind == Operand::Kind::reg) ++mentions[operand.id];
  for (Operand const& element : operand.elements) count_registers(element, mentions);
}

bool updates(ptx::Instruction const& i) {
  return i.is_atomic() && !i.operands.empty();
}
bool is_shared(ptx::Instruction const& i) {
  return i.space() == ptx::StateSpace::shared;
}

}  // namespace

// Updates of global memory commute if what they return is not read and all of the kernel are of one kind: then the
// order of the groups does not matter.
void Decoder::find_commuting() {
  std::vector<std::uint32_t> mentions(f_.registers.size());
  for (Instruction const& i : f_.instructions) {
    if (i.guard.present) ++mentions[i.guard.reg];
    for (Operand const& operand : i.operands) count_registers(operand, mentions);
  }
  auto const returns = [&](Instruction const& i) {
    Operand const& result = i.operands[0];
    return i.is(ptx::Op::atom) && result.kind != Operand::Kind::sink &&
           !(result.kind == Operand::Kind::reg && mentions[result.id] == 1);
  };
  std::string kind;
  for (std::uint32_t n = 0; n < f_.instructions.size(); ++n) {
    Instruction const& i = f_.instructions[n];
    if (!updates(i) || is_shared(i) || returns(i)) continue;
    std::string const update = commuting_update(i);
    if (update.empty()) continue;
    if (!kind.empty() && update != kind) return commuting_.clear();
    kind = update;
    commuting_.push_back(n);
  }
}

bool Decoder::commutes(std::uint32_t instruction) const {
  return std::ranges::binary_search(commuting_, instruction);
}

// Vectors and 128 bits have entries of their own, which take their operands element by element.
void Decoder::decode_atomic(Instruction const& i) {
  if (i.is(ptx::Op::red) && i.has("mbarrier::complete_tx::bytes")) return decode_async_store(i);
  AccessModifiers m = read_access(i);
  bool const whole = m.type == Type::b128, vector = m.elements > 1;
  std::string name = whole ? "#wide" : vector ? "#vector" : "atom";
  for (std::string_view other : m.others) {
    if (other != "noftz") name += "." + std::string(other);
  }
  for (std::string_view other : m.others)
    if (other == "noftz") name += ".noftz";
  name += "." + std::string(ptx::name(m.type));
  Opcode const* found = opcode(name);
  bool const returns = i.is(ptx::Op::atom);
  std::size_t const first = returns ? 1 : 0;
  std::size_t count = i.operands.size() - (m.cache_hint ? 1 : 0);
  if (count < first + 2 || count > first + 3)
    throw Unsupported{"opcode '" + ptx::full_opcode(i) + "' without operands"};
  if (m.space != StateSpace::shared && !commutes(current_)) p_.order_dependent = true;

  LaneType const type = found->sources[1];
  std::vector<std::uint32_t> data;
  for (std::size_t k = first + 1; k < count; ++k) {
    if (whole) {
      for (std::uint32_t half : halves(i.operands[k])) data.push_back(half);
    } else {
      for (Operand const& value : elements_of(i.operands[k])) data.push_back(source(value, type));
    }
  }
  if (whole) m.elements = 2;
  if (data.size() != m.elements * (count - first - 1)) throw Unsupported{"a vector of another length than its type"};
  std::uint32_t const at = static_cast<std::uint32_t>(d_.drafts.size());
  Draft& draft = add_access(Draft::Kind::atomic, i, m.space, whole ? Type::b64 : m.type, m.elements, i.operands[first]);
  draft.opcode = found;
  draft.sources.insert(draft.sources.end(), data.begin(), data.end());
  if (returns && i.operands[0].kind != Operand::Kind::sink) {
    std::vector<std::uint32_t> written;
    if (whole)
      written = halves(i.operands[0]);
    else
      for (Operand const& value : elements_of(i.operands[0]))
        written.push_back(destination(value, found->destinations[0]));
    if (written.size() != m.elements) throw Unsupported{"a vector of another length than its type"};
    d_.drafts[at].destinations = std::move(written);
  }
  finish();
}

}  // namespace kernelcast::emu
