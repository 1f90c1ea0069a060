#include "measure/flux/code.hpp"

#include <utility>

namespace kernelcast::flux {

using ptx::Instruction;
using ptx::Operand;

namespace {

Operand operand(Operand::Kind kind, std::uint32_t id) {
  Operand o;
  o.kind = kind;
  o.id = id;
  return o;
}

}  // namespace

Operand reg(std::uint32_t id) {
  return operand(Operand::Kind::reg, id);
}
Operand integer(std::uint64_t value) {
  Operand o;
  o.kind = Operand::Kind::integer;
  o.value = value;
  return o;
}
Operand special(ptx::Special which) {
  return operand(Operand::Kind::special, static_cast<std::uint32_t>(which));
}
Operand parameter(std::uint32_t id) {
  return operand(Operand::Kind::parameter, id);
}
Operand variable(std::uint32_t id) {
  Operand o = operand(Operand::Kind::variable, id);
  o.local = true;
  return o;
}
Operand address(Operand base, std::uint64_t offset) {
  Operand o;
  o.kind = Operand::Kind::address;
  o.value = offset;
  o.elements = {std::move(base)};
  return o;
}

Instruction make(std::string_view full_opcode, std::vector<Operand> operands) {
  Instruction i = ptx::instruction_of(full_opcode);
  i.operands = std::move(operands);
  return i;
}

Instruction guarded(Instruction i, ptx::Guard const& guard) {
  i.guard = guard;
  return i;
}

void Insertions::apply(ptx::Function& f) {
  std::vector<Instruction> out;
  std::vector<std::uint32_t> position(f.instructions.size() + 1);
  ptx::SourcePosition source;
  ptx::TextPosition at = f.at;
  auto const put = [&](Code& code) {
    for (Instruction& i : code) {
      i.source = source;
      i.at = at;
      out.push_back(std::move(i));
    }
  };
  for (std::size_t i = 0; i <= f.instructions.size(); ++i) {
    Place& place = places_[i];
    put(place.gap);
    position[i] = static_cast<std::uint32_t>(out.size());
    if (i < f.instructions.size()) source = f.instructions[i].source, at = f.instructions[i].at;
    put(place.head);
    put(place.middle);
    put(place.tail);
    if (i < f.instructions.size()) out.push_back(std::move(f.instructions[i]));
  }
  for (ptx::Label& label : f.labels) label.instruction = position[label.instruction];
  f.instructions = std::move(out);
}

}  // namespace kernelcast::flux
