// The interpreter's loop. A unit of up to 256 lanes runs block by block; where its lanes disagree it splits into
// fragments, of which the one at the lowest block always runs, and fragments at the same block merge. Blocks begin at
// labels and after whatever ends one, so fragments meet at block boundaries only.
#include "emu/machine/machine.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace kernelcast::emu {

namespace {
constexpr std::uint32_t nowhere = ~std::uint32_t{0};
}

void Machine::run_groups(std::span<std::uint64_t const> linear_groups) {
  begin_groups(linear_groups);
  for (Unit& unit : units_) {
    unit.fragments.clear();
    Fragment all;
    all.bits = unit.exists;
    unit.fragments.push_back(all);
  }
  do {
    for (Unit& unit : units_) run_unit(unit);
  } while (release());
  for (Observer* o : observers_) group_warps_ ? o->pack_end() : o->group_end();
}

void Machine::run_unit(Unit& unit) {
  unit_ = &unit;
  context_.registers = unit.registers;
  context_.warps = unit.warps;
  context_.first_warp = unit.first_warp;
  context_.group_warps = group_warps_;
  context_.exists = unit.exists.data();
  while (pick(unit)) {
    for (;;) {
      if (block_ >= code_.size()) break;  // past the last instruction: the lanes leave
      BlockCode const& code = code_[block_];
      count(code);
      if (context_.observed) {
        Lanes const lanes = lanes_of(bits_, unit);
        for (Observer* o : observers_) o->block(block_, lanes);
      }
      run_block(code);
      if (!go_on(unit, code)) break;
      if (block_ >= next_block_) {
        Fragment current;
        current.block = block_;
        current.bits = bits_;
        unit.fragments.push_back(current);
        break;
      }
    }
  }
}

// Takes the runnable fragment at the lowest block, with all others at that block.
bool Machine::pick(Unit& unit) {
  std::uint32_t lowest = nowhere;
  for (Fragment const& f : unit.fragments)
    if (!f.parked) lowest = std::min(lowest, f.block);
  if (lowest == nowhere) return false;
  block_ = lowest;
  next_block_ = nowhere;
  bits_.fill(0);
  std::erase_if(unit.fragments, [&](Fragment const& f) {
    if (f.parked) return false;
    if (f.block != lowest) {
      next_block_ = std::min(next_block_, f.block);
      return false;
    }
    for (std::uint32_t w = 0; w < unit.warps; ++w) bits_[w] |= f.bits[w];
    return true;
  });
  choose_mode(unit);
  return true;
}

void Machine::choose_mode(Unit const& unit) {
  live_warps_ = 0;
  bool all = true;
  for (std::uint32_t w = 0; w < unit.warps; ++w) {
    live_warps_ += bits_[w] != 0;
    all &= bits_[w] == ~0u;
  }
  alone_ = unit.fragments.empty();
  // Lanes that have left do not mind garbage in their registers, as long as they are few.
  mode_ = all ? Mode::full : alone_ && 2 * live_warps_ > unit.warps ? Mode::partial : Mode::masked;
  p_.handlers->expand(bits_.data(), unit.warps, lane_masks_.data());
}

void Machine::count(BlockCode const& code) {
  steps_ += std::uint64_t{code.length} * live_warps_;
  context_.clock = steps_;
  if (steps_ >= check_at_) check_budget();
}

void Machine::run_block(BlockCode const& code) {
  MicroOp const* op = ops_.data() + code.first;
  MicroOp const* const last = ops_.data() + code.last;
  switch (mode_) {
    case Mode::full:
      for (; op != last; op += op->length) op->full(context_, *op);
      break;
    case Mode::partial:
      for (; op != last; op += op->length) op->partial(context_, *op);
      break;
    case Mode::masked:
      for (; op != last; op += op->length) op->masked(context_, *op);
      break;
  }
}

Lanes Machine::lanes_of(Bits const& bits, Unit const& unit) const {
  return {bits.data(), unit.warps, unit.first_warp, bits == unit.exists, group_warps_};
}

Machine::Bits Machine::predicate(std::uint32_t slot) const {
  Bits bits{};
  p_.handlers->predicate_bits(context_.registers + slot, context_.warps, bits.data());
  return bits;
}

std::uint32_t Machine::lane_value(Unit const& unit, std::uint32_t slot, Bits const& bits) const {
  for (std::uint32_t w = 0; w < unit.warps; ++w)
    if (bits[w]) {
      std::size_t const lane = w * lanes_per_warp + static_cast<std::uint32_t>(std::countr_zero(bits[w]));
      return reinterpret_cast<std::uint32_t const*>(unit.registers + slot)[lane];
    }
  return 0;
}

bool Machine::go_on(Unit& unit, BlockCode const& code) {
  End const& end = code.end;
  switch (end.kind) {
    case End::Kind::fall:
      ++block_;
      return true;
    case End::Kind::jump:
      if (end.guard == no_slot) {
        block_ = end.target;
        return true;
      }
      return branch(unit, end);
    default:
      break;
  }
  bool nobody = false;
  if (end.guard != no_slot && split_guarded(unit, end, nobody) && nobody) {
    ++block_;
    return true;
  }
  switch (end.kind) {
    case End::Kind::exit:
      return false;
    case End::Kind::barrier:
    case End::Kind::arrive:
      return at_barrier(unit, end);
    case End::Kind::table:
      return branch_table(unit, end);
    case End::Kind::trap:
      throw fault(Finding::Kind::trap, end.instruction, first_thread(bits_.data()), "trap");
    default: {
      ptx::Instruction const& call = p_.kernel->instructions[end.instruction];
      ptx::Function const* callee = nullptr;
      for (ptx::Operand const& operand : call.operands)
        if (operand.kind == ptx::Operand::Kind::function) callee = &p_.module->functions[operand.id];
      throw fault(Finding::Kind::unknown_opcode, end.instruction, first_thread(bits_.data()),
                  !callee ? "an indirect call cannot be executed"
                          : "call of '" + std::string(callee->name) + "' cannot be executed: it " +
                                (callee->has_body ? "is recursive" : "has no body here"));
    }
  }
}

// A conditional branch. Where all lanes agree nothing changes but the block.
bool Machine::branch(Unit& unit, End const& end) {
  Bits taking{};
  int agreed = mode_ == Mode::full ? p_.handlers->predicate_agrees(context_.registers + end.guard, unit.warps) : 2;
  if (agreed == 2) {
    taking = predicate(end.guard);
    bool any = false, all = true;
    for (std::uint32_t w = 0; w < unit.warps; ++w) {
      taking[w] = (end.negated ? ~taking[w] : taking[w]) & bits_[w];
      any |= taking[w] != 0;
      all &= taking[w] == bits_[w];
    }
    agreed = all ? 1 : any ? 2 : 0;
  } else {
    if (end.negated) agreed = !agreed;
    if (agreed) taking = bits_;
  }
  if (context_.observed) {
    Lanes const executing = lanes_of(bits_, unit), takers = lanes_of(taking, unit);
    for (Observer* o : observers_) o->branch(end.instruction, executing, takers);
  }
  if (agreed != 2) {
    block_ = agreed ? end.target : block_ + 1;
    return true;
  }
  Fragment there, here;
  there.block = end.target;
  here.block = block_ + 1;
  there.bits = taking;
  for (std::uint32_t w = 0; w < unit.warps; ++w) here.bits[w] = bits_[w] & ~taking[w];
  unit.fragments.push_back(there);
  unit.fragments.push_back(here);
  return false;
}

// A guarded exit, barrier or the like: lanes whose predicate does not hold go to the next block as a fragment of their
// own, the others are the running one. `nobody`: none holds.
bool Machine::split_guarded(Unit& unit, End const& end, bool& nobody) {
  Bits const holds = predicate(end.guard);
  Fragment rest;
  rest.block = block_ + 1;
  bool some_rest = false, some = false;
  Bits chosen{};
  for (std::uint32_t w = 0; w < unit.warps; ++w) {
    chosen[w] = (end.negated ? ~holds[w] : holds[w]) & bits_[w];
    rest.bits[w] = bits_[w] & ~chosen[w];
    some |= chosen[w] != 0;
    some_rest |= rest.bits[w] != 0;
  }
  if (context_.observed && p_.guarded[end.instruction]) {
    Lanes const lanes = lanes_of(chosen, unit);
    for (Observer* o : observers_) o->guarded(end.instruction, lanes);
  }
  nobody = !some;
  if (!some || !some_rest) return true;
  unit.fragments.push_back(rest);
  bits_ = chosen;
  next_block_ = std::min(next_block_, rest.block);
  choose_mode(unit);
  return true;
}

bool Machine::branch_table(Unit& unit, End const& end) {
  auto const* index = reinterpret_cast<std::uint32_t const*>(context_.registers + end.index);
  std::vector<Fragment> parts;
  for (std::uint32_t w = 0; w < unit.warps; ++w)
    for (std::uint32_t bits = bits_[w]; bits; bits &= bits - 1) {
      std::uint32_t const lane = static_cast<std::uint32_t>(std::countr_zero(bits));
      std::uint32_t const value = index[w * lanes_per_warp + lane];
      if (value >= end.targets.size())
        throw fault(
            Finding::Kind::trap, end.instruction, (unit.first_warp + w) * lanes_per_warp + lane,
            "branch index " + std::to_string(value) + " is outside the table of " + std::to_string(end.targets.size()));
      auto part =
          std::find_if(parts.begin(), parts.end(), [&](Fragment const& f) { return f.block == end.targets[value]; });
      if (part == parts.end()) {
        parts.emplace_back();
        part = parts.end() - 1;
        part->block = end.targets[value];
      }
      part->bits[w] |= 1u << lane;
    }
  if (context_.observed) {
    Lanes const lanes = lanes_of(bits_, unit);
    for (Observer* o : observers_) o->branch(end.instruction, lanes, lanes);
  }
  if (parts.size() == 1) {
    block_ = parts[0].block;
    return true;
  }
  unit.fragments.insert(unit.fragments.end(), parts.begin(), parts.end());
  return false;
}

bool Machine::at_barrier(Unit& unit, End const& end) {
  if (context_.observed) {
    Lanes const lanes = lanes_of(bits_, unit);
    for (Observer* o : observers_) o->barrier(end.instruction, lanes);
  }
  std::uint32_t const barrier = lane_value(unit, end.index, bits_);
  std::uint32_t const threads = end.count == no_slot ? 0 : lane_value(unit, end.count, bits_);
  if (barrier >= arrived_.size())
    throw fault(Finding::Kind::trap, end.instruction, first_thread(bits_.data()),
                "barrier " + std::to_string(barrier) + " does not exist: there are 16");
  if (end.kind == End::Kind::arrive) {
    std::uint32_t warps = 0;
    for (std::uint32_t w = 0; w < unit.warps; ++w) {
      warps += bits_[w] != 0;
      arrived_lanes_[barrier][unit.first_warp + w] |= bits_[w];
    }
    arrived_[barrier] += warps * lanes_per_warp;
    ++block_;
    return true;
  }
  // The whole group is here: nothing to wait for.
  if (units_.size() == 1 && unit.fragments.empty() && threads == 0 && end.reduction == End::Reduction::none) {
    if (context_.observed)
      for (Observer* o : observers_) o->meet({bits_.data(), nullptr, unit.warps, true});
    ++block_;
    return true;
  }
  Fragment waiting;
  waiting.block = block_ + 1;
  waiting.bits = bits_;
  waiting.parked = true;
  waiting.barrier = barrier;
  waiting.threads = threads;
  waiting.instruction = end.instruction;
  waiting.aligned = end.aligned;
  waiting.end = &end;
  if (end.reduction != End::Reduction::none) {
    waiting.holds = predicate(end.reduced);
    for (std::uint32_t w = 0; w < unit.warps; ++w)
      waiting.holds[w] = (end.reduced_negated ? ~waiting.holds[w] : waiting.holds[w]) & bits_[w];
  }
  unit.fragments.push_back(waiting);
  return false;
}

// All lanes wait or have left. Opens the barriers that are complete; false when nobody waits.
bool Machine::release() {
  std::array<std::uint32_t, 16> lanes{}, warps{}, wanted{};
  std::uint32_t waiting = 0;
  for (Unit const& unit : units_) {
    std::array<std::uint32_t, max_warps_per_unit> at{};
    at.fill(nowhere);
    for (Fragment const& f : unit.fragments) {
      for (std::uint32_t w = 0; w < unit.warps; ++w) {
        if (!f.bits[w]) continue;
        std::uint32_t const n = static_cast<std::uint32_t>(std::popcount(f.bits[w]));
        lanes[f.barrier] += n;
        warps[f.barrier] += f.aligned ? lanes_per_warp : n;
        waiting += n;
        // Lanes of one warp must meet at the same aligned barrier.
        if (f.aligned && at[w] != nowhere && at[w] != f.instruction) stuck();
        if (f.aligned) at[w] = f.instruction;
      }
      wanted[f.barrier] = std::max(wanted[f.barrier], f.threads);
    }
  }
  if (waiting == 0) return false;
  bool opened = false;
  for (std::uint32_t barrier = 0; barrier < lanes.size(); ++barrier) {
    if (lanes[barrier] == 0) continue;
    bool const complete =
        wanted[barrier] == 0 ? lanes[barrier] == waiting : warps[barrier] + arrived_[barrier] >= wanted[barrier];
    if (!complete) continue;
    opened = true;
    arrived_[barrier] = 0;
    finish_reduction(barrier);
    if (context_.observed) tell_meeting(barrier, lanes[barrier] == waiting);
    for (Unit& unit : units_)
      for (Fragment& f : unit.fragments)
        if (f.parked && f.barrier == barrier) f.parked = false;
  }
  if (!opened) stuck();
  return true;
}

void Machine::tell_meeting(std::uint32_t barrier, bool everyone) {
  std::array<std::uint32_t, 32> waiting{};
  for (Unit const& unit : units_)
    for (Fragment const& f : unit.fragments)
      if (f.parked && f.barrier == barrier)
        for (std::uint32_t w = 0; w < unit.warps; ++w) waiting[unit.first_warp + w] |= f.bits[w];
  std::uint32_t const warps = (threads_ + lanes_per_warp - 1) / lanes_per_warp;
  for (Observer* o : observers_) o->meet({waiting.data(), arrived_lanes_[barrier].data(), warps, everyone});
  arrived_lanes_[barrier].fill(0);
}

void Machine::finish_reduction(std::uint32_t barrier) {
  std::uint32_t holding = 0, total = 0;
  for (Unit const& unit : units_)
    for (Fragment const& f : unit.fragments)
      if (f.parked && f.barrier == barrier)
        for (std::uint32_t w = 0; w < unit.warps; ++w) {
          holding += static_cast<std::uint32_t>(std::popcount(f.holds[w]));
          total += static_cast<std::uint32_t>(std::popcount(f.bits[w]));
        }
  for (Unit& unit : units_)
    for (Fragment const& f : unit.fragments) {
      if (!f.parked || f.barrier != barrier || f.end->reduction == End::Reduction::none) continue;
      std::uint32_t const value = f.end->reduction == End::Reduction::popc          ? holding
                                  : f.end->reduction == End::Reduction::conjunction ? (holding == total ? ~0u : 0u)
                                                                                    : (holding != 0 ? ~0u : 0u);
      auto* result = reinterpret_cast<std::uint32_t*>(unit.registers + f.end->result);
      for (std::uint32_t w = 0; w < unit.warps; ++w)
        for (std::uint32_t bits = f.bits[w]; bits; bits &= bits - 1)
          result[w * lanes_per_warp + static_cast<std::uint32_t>(std::countr_zero(bits))] = value;
    }
}

// Nobody can go on: names two places where lanes wait.
void Machine::stuck() {
  Fragment const *one = nullptr, *other = nullptr;
  Unit* at = nullptr;
  for (Unit& unit : units_)
    for (Fragment const& f : unit.fragments) {
      if (!one) {
        one = &f;
        at = &unit;
      } else if (f.instruction != one->instruction && !other) {
        other = &f;
      }
    }
  unit_ = at;
  auto place = [&](Fragment const& f) {
    ptx::Instruction const& i = p_.kernel->instructions[f.instruction];
    std::string const source = p_.module->describe(i.source);
    return "barrier " + std::to_string(f.barrier) + " at " + p_.module->path + ":" + std::to_string(i.at.line) +
           (source.empty() ? "" : " (" + source + ")");
  };
  std::string message;
  if (other)
    message = "work-items of one group wait at different barriers: " + place(*one) + " and " + place(*other);
  else
    message =
        "work-items wait for ever at " + place(*one) + ", which asks for " + std::to_string(one->threads) + " threads";
  throw fault(other ? Finding::Kind::divergent_barrier : Finding::Kind::deadlock, one->instruction,
              first_thread(one->bits.data()), message);
}

std::uint32_t Machine::first_thread(std::uint32_t const* bits) const {
  for (std::uint32_t w = 0; w < unit_->warps; ++w)
    if (bits[w])
      return (unit_->first_warp + w) * lanes_per_warp + static_cast<std::uint32_t>(std::countr_zero(bits[w]));
  return unit_->first_warp * lanes_per_warp;
}

Fault Machine::fault(Finding::Kind kind, std::uint32_t instruction, std::uint32_t thread, std::string message) const {
  std::uint64_t group = group_;
  if (group_warps_) {
    group = packed_groups_[thread / lanes_per_warp / group_warps_];
    thread %= lanes_per_warp * group_warps_;
  }
  return {found_at(program_, launch_, kind, group, thread, instruction, std::move(message)), Ending::finding};
}

void Machine::check_budget() {
  std::uint64_t const total = budget_.steps.fetch_add(steps_ - reported_steps_) + steps_ - reported_steps_;
  reported_steps_ = steps_;
  bool const over = budget_.max_steps != 0 && total >= budget_.max_steps;
  bool const late = budget_.timed && std::chrono::steady_clock::now() >= budget_.deadline;
  if (over || late) {
    Fault stop = fault(Finding::Kind::limit, p_.blocks[block_].first, first_thread(bits_.data()),
                       over ? "stopped after " + std::to_string(budget_.max_steps) + " warp instructions"
                            : "stopped by the time limit");
    stop.ending = over ? Ending::step_limit : Ending::time_limit;
    throw stop;
  }
  std::uint64_t const rest = budget_.max_steps ? budget_.max_steps - total : ~std::uint64_t{0};
  check_at_ = steps_ + std::min<std::uint64_t>(rest, 1 << 20);
}

}  // namespace kernelcast::emu
