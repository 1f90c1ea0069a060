#include "kernels/ptx/liveness.hpp"

#include <algorithm>
#include <bit>

namespace kernelcast::ptx {

namespace {

// Instructions whose first operand, where it is a register, is read. Stores, red, prefetch and the like begin with an
// address and need no mention.
bool has_destination(Instruction const& instruction) {
  if (instruction.is_barrier()) return instruction.has("red");
  if (instruction.is_branch() ||
      instruction.is(Op::ret, Op::exit, Op::nanosleep, Op::pmevent, Op::setmaxnreg, Op::stackrestore))
    return false;
  if (instruction.is(Op::tcgen05)) return !instruction.has("dealloc");
  return true;
}

void read(Operand const& operand, Effects& out) {
  if (operand.kind == Operand::Kind::reg) out.read.push_back(operand.id);
  for (auto const& element : operand.elements) read(element, out);
}

void write(Operand const& operand, bool whole, Effects& out) {
  if (operand.kind == Operand::Kind::reg) {
    out.written.push_back(operand.id);
    if (whole && operand.component == 0) out.written_whole.push_back(operand.id);
  } else if (operand.kind == Operand::Kind::address) {
    read(operand, out);
  }
  for (auto const& element : operand.elements)
    if (operand.kind != Operand::Kind::address) write(element, whole, out);
}

}  // namespace

void effects(Instruction const& instruction, Effects& out) {
  out.read.clear();
  out.written.clear();
  out.written_whole.clear();
  auto const& operands = instruction.operands;
  if (instruction.guard.present) out.read.push_back(instruction.guard.reg);
  std::size_t first = 0;
  bool const whole = !instruction.guard.present;
  if (instruction.is_call()) {
    // call (result), f, (arguments): a list before the callee holds results.
    if (!operands.empty() && (operands[0].kind == Operand::Kind::list || operands[0].kind == Operand::Kind::sink))
      write(operands[0], whole, out), first = 1;
  } else if (!operands.empty() && has_destination(instruction)) {
    bool const accumulates = instruction.is(Op::wgmma);  // d = a * b + d in place
    write(operands[0], whole && !accumulates, out);
    if (accumulates) read(operands[0], out);
    first = 1;
    // tcgen05.ld.red has its reduction in the second.
    if (instruction.is(Op::tcgen05) && instruction.has("red") && operands.size() > 1)
      write(operands[1], whole, out), first = 2;
  }
  for (auto i = first; i < operands.size(); ++i) read(operands[i], out);
}

bool RegisterSet::unite(RegisterSet const& other) {
  std::uint64_t grown = 0;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    grown |= other.words_[i] & ~words_[i];
    words_[i] |= other.words_[i];
  }
  return grown != 0;
}

std::vector<std::uint32_t> RegisterSet::members() const {
  std::vector<std::uint32_t> out;
  for (std::size_t i = 0; i < words_.size(); ++i)
    for (auto word = words_[i]; word; word &= word - 1)
      out.push_back(static_cast<std::uint32_t>(i * 64 + static_cast<std::size_t>(std::countr_zero(word))));
  return out;
}

Liveness live_registers(Function const& function, Cfg const& cfg) {
  auto const blocks = cfg.blocks.size();
  Liveness live;
  live.live_in.assign(blocks, RegisterSet(function.registers.size()));
  live.live_out = live.live_in;
  // A block's set is recomputed from its live_out whenever a successor's live_in has grown.
  std::vector<bool> waiting(blocks, true);
  std::vector<std::uint32_t> stack;
  for (std::uint32_t b = 0; b < blocks; ++b)
    if (!cfg.blocks[b].reachable) stack.push_back(b);
  stack.insert(stack.end(), cfg.reverse_post_order.begin(), cfg.reverse_post_order.end());
  Effects effect;
  while (!stack.empty()) {
    auto const b = stack.back();
    stack.pop_back();
    waiting[b] = false;
    auto const& block = cfg.blocks[b];
    for (auto to : block.successors) live.live_out[b].unite(live.live_in[to]);
    RegisterSet set = live.live_out[b];
    for (auto i = block.last; i-- > block.first;) {
      effects(function.instructions[i], effect);
      for (auto reg : effect.written_whole) set.erase(reg);
      for (auto reg : effect.read) set.insert(reg);
    }
    if (!live.live_in[b].unite(set)) continue;
    for (auto p : block.predecessors)
      if (!waiting[p]) waiting[p] = true, stack.push_back(p);
  }
  return live;
}

std::uint32_t width_registers(Register const& reg) {
  if (reg.type == Type::pred) return 0;
  return (size_bytes(reg.type) + 3) / 4 * reg.vector;
}

RegisterSet operands_of(Function const& function) {
  std::vector<std::uint8_t> written(function.registers.size());
  Effects effect;
  for (auto const& i : function.instructions) {
    effects(i, effect);
    for (auto const reg : effect.written) written[reg] = static_cast<std::uint8_t>(std::min(2, written[reg] + 1));
  }
  RegisterSet out(function.registers.size());
  for (auto const& i : function.instructions) {
    bool const loads = i.is(Op::ld) && i.space() == StateSpace::param;
    if ((!loads && !i.is(Op::mov, Op::cvta)) || i.guard.present) continue;
    effects(i, effect);
    if (effect.written.size() != 1 || written[effect.written[0]] != 1) continue;
    bool fixed = loads || (i.operands.size() == 2 && i.operands[1].kind != Operand::Kind::special);
    for (auto const reg : effect.read) fixed = fixed && out.contains(reg);
    if (fixed) out.insert(effect.written[0]);
  }
  return out;
}

RegistersNeeded registers_needed(Function const& function, Cfg const& cfg, Liveness const& live) {
  RegistersNeeded needed;
  auto const operands = operands_of(function);
  std::uint32_t registers = 0, predicates = 0;
  RegisterSet set(function.registers.size());
  auto const count = [&](std::uint32_t reg, bool in) {
    auto const& declared = function.registers[reg];
    auto const width = operands.contains(reg) ? 0 : width_registers(declared);
    auto const predicate = declared.type == Type::pred ? 1U : 0U;
    registers = in ? registers + width : registers - width;
    predicates = in ? predicates + predicate : predicates - predicate;
  };
  auto const insert = [&](std::uint32_t reg) {
    if (!set.contains(reg)) set.insert(reg), count(reg, true);
  };
  auto const erase = [&](std::uint32_t reg) {
    if (set.contains(reg)) set.erase(reg), count(reg, false);
  };
  auto const note = [&](std::uint32_t at) {
    if (registers > needed.registers || (registers == needed.registers && at < needed.instruction))
      needed.registers = registers, needed.instruction = at;
    needed.predicates = std::max(needed.predicates, predicates);
  };
  Effects effect;
  std::vector<std::uint32_t> unread;
  for (std::uint32_t b = 0; b < cfg.blocks.size(); ++b) {
    auto const& block = cfg.blocks[b];
    if (!block.reachable) continue;
    set = live.live_out[b];
    registers = predicates = 0;
    for (auto reg : set.members()) count(reg, true);
    for (auto i = block.last; i-- > block.first;) {
      effects(function.instructions[i], effect);
      unread.clear();
      for (auto reg : effect.written)  // a result that is not read still needs a place
        if (!set.contains(reg)) insert(reg), unread.push_back(reg);
      note(i);
      for (auto reg : effect.written_whole) erase(reg);
      for (auto reg : unread) erase(reg);
      for (auto reg : effect.read) insert(reg);
      note(i);
    }
  }
  return needed;
}

RegistersNeeded registers_needed(Function const& function) {
  auto const cfg = build_cfg(function);
  return registers_needed(function, cfg, live_registers(function, cfg));
}

}  // namespace kernelcast::ptx
