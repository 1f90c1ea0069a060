// atom and red: the table's opcode without space, scope and ordering.
#include "emu/decode/modifiers.hpp"

namespace kernelcast::emu {

using ptx::StateSpace;
using ptx::Type;

// Vectors and 128 bits have entries of their own, which take their operands element by element.
void Decoder::decode_atomic(Instruction const& i) {
  AccessModifiers m = read_access(i);
  bool const whole = m.type == Type::b128, vector = m.elements > 1;
  std::string name = whole ? "#wide" : vector ? "#vector" : "atom";
  for (std::string_view other : m.others) {
    if (other == "async")
      throw Unsupported{"it works on the shared memory of another CTA, and clusters have one CTA here"};
    if (other != "noftz") name += "." + std::string(other);
  }
  for (std::string_view other : m.others)
    if (other == "noftz") name += ".noftz";
  name += "." + std::string(ptx::name(m.type));
  Opcode const* found = opcode(name);
  bool const returns = i.opcode == "atom";
  std::size_t const first = returns ? 1 : 0;
  std::size_t count = i.operands.size() - (m.cache_hint ? 1 : 0);
  if (count < first + 2 || count > first + 3)
    throw Unsupported{"opcode '" + ptx::full_opcode(i) + "' without operands"};
  if (m.space != StateSpace::shared) p_.order_dependent = true;

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
