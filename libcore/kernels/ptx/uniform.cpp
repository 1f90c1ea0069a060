#include "kernels/ptx/uniform.hpp"

#include <algorithm>
#include <array>

namespace kernelcast::ptx {

namespace {

constexpr std::array own{Special::tid_x,       Special::tid_y,       Special::tid_z,       Special::laneid,
                         Special::warpid,      Special::lanemask_eq, Special::lanemask_le, Special::lanemask_lt,
                         Special::lanemask_ge, Special::lanemask_gt, Special::clock,       Special::clock_hi,
                         Special::clock64};

bool reads_own(Operand const& operand) {
  if (operand.kind == Operand::Kind::special && std::ranges::find(own, static_cast<Special>(operand.id)) != own.end())
    return true;
  return std::ranges::any_of(operand.elements, reads_own);
}

bool varies_by_itself(Instruction const& i) {
  if (i.is_load()) return i.space() != StateSpace::param && i.space() != StateSpace::constant;
  if (i.is_atomic() || i.is_call()) return true;
  if (i.is(Op::shfl, Op::match, Op::activemask, Op::elect, Op::tex, Op::tld4, Op::suld)) return true;
  return std::ranges::any_of(i.operands, reads_own);
}

}  // namespace

RegisterSet varying_registers(Function const& function) {
  RegisterSet varying(function.registers.size());
  Effects effect;
  for (bool grew = true; grew;) {
    RegisterSet now = varying;
    for (auto const& instruction : function.instructions) {
      effects(instruction, effect);
      bool const reads = std::ranges::any_of(effect.read, [&](auto reg) { return now.contains(reg); });
      if (reads || varies_by_itself(instruction))
        for (auto const reg : effect.written) now.insert(reg);
    }
    grew = varying.unite(now);
  }
  return varying;
}

}  // namespace kernelcast::ptx
