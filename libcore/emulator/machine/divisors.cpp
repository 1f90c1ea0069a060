// Divisions and remainders that are watched for a divisor of 0: their handlers are replaced, so that programs without
// the check run as ever. Slots and pins stay what they were.
#include <bit>

#include "emulator/machine/machine.hpp"

namespace kernelcast::emu {

namespace {

void full(Context& c, MicroOp const& op) {
  static_cast<Machine*>(c.machine)->divide_watched(c, op, &MicroOp::full);
}
void partial(Context& c, MicroOp const& op) {
  static_cast<Machine*>(c.machine)->divide_watched(c, op, &MicroOp::partial);
}
void masked(Context& c, MicroOp const& op) {
  static_cast<Machine*>(c.machine)->divide_watched(c, op, &MicroOp::masked);
}

bool divides_integers(ptx::Instruction const& i) {
  if (!i.is(ptx::Op::div, ptx::Op::rem) || i.modifiers.empty()) return false;
  std::string_view const type = i.modifiers.back();
  return type.front() == 's' || type.front() == 'u';
}

}  // namespace

void Machine::watch_divisors() {
  bool needed = false;
  for (Observer const* o : observers_) needed |= o->needs_divisors();
  if (!needed) return;
  for (MicroOp& op : ops_) {
    if (op.instruction >= p_.kernel->instructions.size()) continue;
    ptx::Instruction const& i = p_.kernel->instructions[op.instruction];
    if (!divides_integers(i)) continue;
    // The decoder may put operations of its own around the division.
    Opcode const* const opcode = find_opcode(*p_.handlers, ptx::full_opcode(i));
    if (!opcode || (op.full != opcode->full && op.masked != opcode->masked)) continue;
    op.full = full;
    op.partial = partial;
    op.masked = masked;
  }
}

void Machine::divide_watched(Context& c, MicroOp const& op, Handler MicroOp::* mode) {
  ptx::Instruction const& i = p_.kernel->instructions[op.instruction];
  bool const wide = i.modifiers.back().substr(1) == "64";
  Bits zero{};
  bool any = false;
  for (std::uint32_t w = 0; w < c.warps; ++w)
    for (std::uint32_t rest = c.bits[w]; rest; rest &= rest - 1) {
      auto const bit = static_cast<std::uint32_t>(std::countr_zero(rest));
      std::size_t const lane = w * lanes_per_warp + bit;
      std::byte const* const divisors = c.registers + op.s[1];
      bool const is_zero = wide ? reinterpret_cast<std::uint64_t const*>(divisors)[lane] == 0
                                : reinterpret_cast<std::uint32_t const*>(divisors)[lane] == 0;
      if (!is_zero) continue;
      zero[w] |= 1u << bit;
      any = true;
    }
  if (any)
    for (Observer* o : observers_) o->zero_divisor(op.instruction, {zero.data(), c.warps, c.first_warp, false});
  (p_.ops[static_cast<std::size_t>(&op - ops_.data())].*mode)(c, op);
}

}  // namespace kernelcast::emu
