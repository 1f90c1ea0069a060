// Control flow: instructions split into basic blocks, and what ends a block: branches, calls, barriers, exits.
#include <algorithm>
#include <utility>

#include "emulator/decode/decode.hpp"

namespace kernelcast::emu {

namespace {

// barrier.cluster.arrive is no more than a promise to wait: the wait alone decides, as if groups arrived there.
bool waits_at_barrier(ptx::Instruction const& i) {
  return i.is_barrier() && !(i.has("cluster") && i.has("arrive"));
}

// For others to see.
bool publishes(ptx::Instruction const& i) {
  return i.is(ptx::Op::st) && i.space() != ptx::StateSpace::shared &&
         (i.has("volatile") || i.has("relaxed") || i.has("release"));
}

// A loop that holds one of these may be waiting for other lanes. What is read beyond L1 (.cg) is mostly meant for
// caching, but not in a kernel that publishes.
bool synchronises(ptx::Instruction const& i, bool publishes) {
  if (i.is(ptx::Op::ld))
    return i.has("volatile") || i.has("relaxed") || i.has("acquire") || i.has("cv") || (publishes && i.has("cg"));
  return i.is_atomic() || i.is(ptx::Op::membar, ptx::Op::fence, ptx::Op::nanosleep, ptx::Op::mbarrier) ||
         (i.is(ptx::Op::bar) && i.has("warp"));
}

}  // namespace

bool ends_block(ptx::Instruction const& i) {
  return i.is_branch() || i.ends_function() || i.is_call() || waits_at_barrier(i);
}

std::vector<std::uint32_t> Drafts::successors(std::uint32_t block) const {
  End const& end = blocks[block].end;
  std::vector<std::uint32_t> result;
  bool const next = block + 1 < blocks.size();
  switch (end.kind) {
    case End::Kind::jump:
      result.push_back(end.target);
      if (end.guard != no_register && next) result.push_back(block + 1);
      break;
    case End::Kind::exit:
    case End::Kind::trap:
    case End::Kind::give_back:
      if (end.guard != no_register && next) result.push_back(block + 1);
      break;
    case End::Kind::table:
      result = end.targets;
      if (end.guard != no_register && next) result.push_back(block + 1);
      break;
    default:
      if (next) result.push_back(block + 1);
  }
  std::erase_if(result, [&](std::uint32_t b) { return b >= blocks.size(); });
  return result;
}

std::vector<std::uint32_t> Drafts::reads(End const& end) {
  std::vector<std::uint32_t> result;
  for (std::uint32_t r : {end.guard, end.index, end.count, end.reduced})
    if (r != no_register) result.push_back(r);
  return result;
}

void Decoder::split() {
  std::size_t const count = f_.instructions.size();
  publishes_ = std::ranges::any_of(f_.instructions, publishes);
  std::vector<bool> leader(count + 1, false);
  leader[0] = true;
  for (ptx::Label const& label : f_.labels) leader[label.instruction] = true;
  for (std::size_t i = 0; i < count; ++i)
    if (ends_block(f_.instructions[i])) leader[i + 1] = true;
  block_of_.assign(count + 1, 0);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (leader[i]) {
      if (!p_.blocks.empty()) p_.blocks.back().last = i;
      p_.blocks.push_back({i, static_cast<std::uint32_t>(count)});
    }
    block_of_[i] = static_cast<std::uint32_t>(p_.blocks.size() - 1);
  }
  block_of_[count] = static_cast<std::uint32_t>(p_.blocks.size());  // past the end: lanes leave
  for (std::size_t k = 0; k < p_.callables.size(); ++k) p_.callables[k].entry = block_of_[p_.whole->callables[k].first];
}

// As locks do.
bool Decoder::takes_a_word(BasicBlock const& block) const {
  return std::any_of(f_.instructions.begin() + block.first, f_.instructions.begin() + block.last,
                     [](Instruction const& i) { return i.is(ptx::Op::atom) && (i.has("cas") || i.has("exch")); });
}

void Decoder::note_synchronisation(BasicBlock const& block) {
  bool found = false, idles = true;
  for (std::uint32_t i = block.first; i < block.last; ++i) {
    Instruction const& instruction = f_.instructions[i];
    if (!synchronises(instruction, publishes_) || commutes(i)) continue;
    found = true;
    idles &= instruction.is(ptx::Op::nanosleep, ptx::Op::membar, ptx::Op::fence);
    // What other groups have written is read in the order of the groups.
    if (instruction.is(ptx::Op::ld) && instruction.space() != ptx::StateSpace::shared) p_.order_dependent = true;
  }
  if (!found) return;
  p_.synchronises = true;
  Draft draft;
  draft.kind = Draft::Kind::machine;
  draft.handler = idles ? note_idling : note_sync;
  draft.instruction = block.first;
  d_.drafts.push_back(draft);
}

void Decoder::decode_end(Instruction const& i) {
  End& end = *end_;
  end.instruction = current_;
  if (waits_at_barrier(i)) {
    decode_barrier(i);
  } else if (i.is(ptx::Op::bra)) {
    if (i.operands.at(0).kind != Operand::Kind::label) throw Unsupported{"an indirect branch"};
    end.kind = End::Kind::jump;
    end.target = block_of_[f_.labels[i.operands[0].id].instruction];
    end.tries_again = end.target == block_of_[current_] && takes_a_word(p_.blocks[end.target]);
  } else if (i.is(ptx::Op::brx)) {
    end.kind = End::Kind::table;
    end.index = source(i.operands.at(0), LaneType::u32);
    for (std::uint32_t label : f_.branch_targets.at(i.operands.at(1).id).ids)
      end.targets.push_back(block_of_[f_.labels[label].instruction]);
  } else if (i.is(ptx::Op::trap)) {
    end.kind = End::Kind::trap;
  } else if (i.is_call()) {
    decode_call(i);
  } else if (i.is(ptx::Op::ret) && in_callable()) {
    end.kind = End::Kind::give_back;
  } else {
    end.kind = End::Kind::exit;
  }
  end.guard = i.guard.present ? i.guard.reg : no_register;
  end.negated = i.guard.negated;
}

// bar{.cta}.sync a{, b}; bar.arrive a, b; bar.red.op d, a{, b}, {!}c; barrier... the same, not aligned unless it says
// so; bar.warp.sync mask; barrier.cluster.wait.
void Decoder::decode_barrier(Instruction const& i) {
  End& end = *end_;
  if (i.has("warp")) {  // bar.warp.sync mask
    end.kind = End::Kind::warp_barrier;
    end.index = source(i.operands.at(0), LaneType::u32);
    return;
  }
  end.kind = End::Kind::barrier;
  end.cluster = i.has("cluster");
  end.aligned = i.is(ptx::Op::bar);
  bool reduces = false, arrives = false;
  for (std::string_view m : i.modifiers) {
    if (m == "aligned") end.aligned = true;
    if (m == "arrive") arrives = true;
    if (m == "red") reduces = true;
    if (m == "popc") end.reduction = End::Reduction::popc;
    if (m == "and") end.reduction = End::Reduction::conjunction;
    if (m == "or") end.reduction = End::Reduction::disjunction;
  }
  if (reduces != (end.reduction != End::Reduction::none)) throw Unsupported{"this form of bar"};
  std::span<Operand const> operands = i.operands;
  if (reduces) {
    if (operands.size() < 3 || operands[0].kind != Operand::Kind::reg) throw Unsupported{"this form of bar.red"};
    end.result = operands[0].id;
    Operand condition = operands.back();
    end.reduced_negated = std::exchange(condition.negated, false);
    end.reduced = source(condition, LaneType::pred);
    operands = operands.subspan(1, operands.size() - 2);
  }
  if (arrives) end.kind = End::Kind::arrive;
  end.index = operands.empty() ? d_.immediate(0, false) : source(operands[0], LaneType::u32);
  if (operands.size() > 1) end.count = source(operands[1], LaneType::u32);
  for (Operand const& operand : operands) end.numbered |= operand.kind == Operand::Kind::reg;
}

}  // namespace kernelcast::emu
