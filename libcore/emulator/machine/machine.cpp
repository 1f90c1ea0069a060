// The interpreter's loop. A unit of up to 256 lanes runs block by block; where its lanes disagree it splits into
// fragments, of which the one in the deepest call and there at the earliest block (decode/order.cpp) runs, and
// fragments at the same place merge. Blocks begin at labels and after whatever ends one, so fragments meet at block
// boundaries only. Barriers park fragments (barriers.hpp); lanes that wait for others must yield (turns.hpp).
#include "emulator/machine/machine.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/group_lanes.hpp"
#include "emulator/passed_over.hpp"

namespace kernelcast::emu {

namespace {
constexpr std::uint32_t nowhere = ~std::uint32_t{0};
constexpr std::uint64_t no_key = ~std::uint64_t{0};
}  // namespace

void Machine::begin(std::span<std::uint64_t const> linear_groups, TurnLength length) {
  begin_groups(linear_groups);
  turns_.begin(length);
  context_.syncs = 0;
  context_.deadline = Turns::never;
  depth_ = 0;
  gives_up_ = false;
  for (Unit& unit : units_) {
    if (!p_.cleared.empty()) clear(p_.cleared, unit, unit.exists);
    unit.fragments.clear();
    push(unit, 0, unit.exists);
  }
}

bool Machine::turn() {
  turns_.begin_turn(context_.syncs);
  waits_for_cluster_ = false;
  if (cluster_) context_.failed_tests = gives_up_ ? max_failed_tests : 0;  // another group may complete what is tested
  if (gives_up_) context_.failing_since = context_.syncs;
  for (bool going = true; going;) {
    bool running = false;
    moves_ = false;
    for (Unit& unit : units_) running |= run_unit(unit);
    bool const released = release(running);
    going = released || running;
    idle_ = running && !moves_ && !released;
    tests_again_ = idle_ && !cluster_;
    if (waits_for_cluster_ || (going && (turns_.over(context_.syncs) || (cluster_ && idle_)))) return false;
  }
  return true;
}

void Machine::end() {
  end_tensor_memory();
  for (Observer* o : observers_) group_lanes_ ? o->pack_end() : o->group_end();
}

bool Machine::run_unit(Unit& unit) {
  unit_ = &unit;
  context_.registers = unit.registers;
  context_.warps = unit.warps;
  context_.first_warp = unit.first_warp;
  context_.group_lanes = group_lanes_;
  context_.exists = unit.exists.data();
  turns_.begin_unit(context_.syncs);
  bool test_again = tests_again_;
  while (!turns_.leaving() && pick(unit, test_again)) {
    for (;;) {
      if (block_ >= code_.size()) break;  // past the last instruction: the lanes leave
      BlockCode const& code = code_[block_];
      count(code);
      if (context_.observed) {
        Lanes const lanes = lanes_of(bits_, unit);
        for (Observer* o : observers_) o->block(block_, lanes);
      }
      run_block(code);
      if (!go_on(unit, code)) break;  // what it has pushed waits, if the block has found that it must
      if (next_rank_ != nowhere && rank_of(block_) >= next_rank_) {
        push(unit, block_, bits_);
        break;
      }
    }
  }
  if (turns_.leaving()) {
    turns_.left();
    turns_.rotate(unit, context_.syncs);
  }
  return std::any_of(unit.fragments.begin(), unit.fragments.end(), [](Fragment const& f) { return !f.parked(); });
}

void Machine::push(Unit& unit, std::uint32_t block, Bits const& bits) {
  Fragment& made = unit.fragments.emplace_back();
  made.key = key_of(depth_, rank_of(block));
  made.bits = bits;
  made.since = context_.syncs;
  made.stack_limit = stacks_.limit();
  if (waits_.count == 0) return;
  made.state = Fragment::State::waiting;
  made.waits = waits_;
}

// Takes the ready fragment with the lowest key, with all others that are there.
bool Machine::pick(Unit& unit, bool& test_again) {
  waits_ = {};
  tries_ = 0;
  if (p_.synchronises) Turns::test_phases(unit, context_.syncs, std::exchange(test_again, false));
  if (turns_.yielding()) turns_.rotate(unit, context_.syncs);
  std::uint64_t lowest = no_key;
  do {
    for (Fragment const& f : unit.fragments)
      if (f.state == Fragment::State::ready) lowest = std::min(lowest, f.key);
  } while (lowest == no_key && Turns::wake(unit, context_.syncs));
  if (lowest == no_key) return false;
  block_ = block_at(static_cast<std::uint32_t>(lowest));
  depth_ = ~static_cast<std::uint32_t>(lowest >> 32);
  std::uint64_t next = no_key, oldest = no_key;
  bool parked = false, counted = false;
  std::uint32_t stack_limit = ~std::uint32_t{0};
  bits_.fill(0);
  std::erase_if(unit.fragments, [&](Fragment const& f) {
    if (f.parked()) {
      parked = true;
      counted |= f.threads != 0;
      return false;
    }
    bool const stays = f.state == Fragment::State::waiting || f.state == Fragment::State::held;
    if (f.key != lowest || stays) {
      if (f.state == Fragment::State::ready || f.state == Fragment::State::held) next = std::min(next, f.key);
      oldest = std::min(oldest, f.since);
      return false;
    }
    for (std::uint32_t w = 0; w < unit.warps; ++w) bits_[w] |= f.bits[w];
    stack_limit = std::min(stack_limit, f.stack_limit);
    return true;
  });
  stacks_.set_limit(stack_limit);
  next_rank_ = next >> 32 == lowest >> 32 ? static_cast<std::uint32_t>(next) : nowhere;
  if (p_.synchronises && counted && barriers_.counted_complete(units_)) turns_.leave_soon(context_.syncs);
  if (p_.synchronises) context_.deadline = turns_.deadline(oldest, parked, units_.size() > 1);
  choose_mode(unit);
  moves_ = true;
  return true;
}

void Machine::choose_mode(Unit const& unit) {
  std::uint32_t live = 0;
  bool all = true;
  for (std::uint32_t w = 0; w < unit.warps; ++w) {
    live += bits_[w] != 0;
    all &= bits_[w] == ~0u;
  }
  live_warps_ = live;
  if (group_lanes_ && group_lanes_ < lanes_per_warp) {
    live_warps_ = 0;
    for (std::uint32_t w = 0; w < unit.warps; ++w) live_warps_ += groups_in(bits_[w], group_lanes_);
  }
  alone_ = unit.fragments.empty();
  // Lanes that have left do not mind garbage in their registers, as long as they are few.
  mode_ = all ? Mode::full : alone_ && 2 * live > unit.warps ? Mode::partial : Mode::masked;
  p_.handlers->expand(bits_.data(), unit.warps, lane_masks_.data());
}

void Machine::count(BlockCode const& code) {
  bool const check = spent_.count(std::uint64_t{code.length} * live_warps_);
  context_.clock = spent_.steps();
  if (check) check_budget();
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
  return {bits.data(), unit.warps, unit.first_warp,
          std::equal(bits.begin(), bits.begin() + unit.warps, unit.exists.begin()), group_lanes_};
}

Bits Machine::predicate(std::uint32_t slot) const {
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
  bool none = false;
  if (end.guard != no_slot && split_guarded(unit, end, none) && none) {
    ++block_;
    return true;
  }
  switch (end.kind) {
    case End::Kind::exit:
      return false;
    case End::Kind::barrier:
    case End::Kind::arrive:
      return at_barrier(unit, end);
    case End::Kind::warp_barrier:
      return at_warp_barrier(unit, end);
    case End::Kind::table:
      return branch_table(unit, end);
    case End::Kind::call:
      return call(unit, end);
    case End::Kind::give_back:
      return give_back(unit);
    case End::Kind::trap:
      throw fault(Finding::Kind::trap, end.instruction, first_thread(bits_.data()), "trap");
    default:
      return false;
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
    if (agreed && end.tries_again) return try_again();
    return true;
  }
  push(unit, end.target, taking);
  for (std::uint32_t w = 0; w < unit.warps; ++w) bits_[w] &= ~taking[w];
  push(unit, block_ + 1, bits_);
  return false;
}

// A lock that all lanes have found taken so often is held by lanes that others keep waiting.
bool Machine::try_again() {
  if (++tries_ < max_tries) return true;
  tries_ = 0;
  if (alone_ && units_.size() == 1) return true;
  if (alone_) turns_.leave();
  context_.deadline = Turns::never;
  push(*unit_, block_, bits_);
  if (!alone_) unit_->fragments.back().state = Fragment::State::passed_over;
  return false;
}

// A guarded exit, barrier or the like: lanes whose predicate does not hold go to the next block as a fragment of their
// own, the others are the running one. `none`: no lane's predicate holds.
bool Machine::split_guarded(Unit& unit, End const& end, bool& none) {
  Bits const holds = predicate(end.guard);
  Bits rest{};
  bool some_rest = false, some = false;
  Bits chosen{};
  for (std::uint32_t w = 0; w < unit.warps; ++w) {
    chosen[w] = (end.negated ? ~holds[w] : holds[w]) & bits_[w];
    rest[w] = bits_[w] & ~chosen[w];
    some |= chosen[w] != 0;
    some_rest |= rest[w] != 0;
  }
  if (context_.observed && p_.guarded[end.instruction]) {
    Lanes const lanes = lanes_of(chosen, unit);
    for (Observer* o : observers_) o->guarded(end.instruction, lanes);
  }
  none = !some;
  if (!some || !some_rest) return true;
  push(unit, block_ + 1, rest);
  bits_ = chosen;
  next_rank_ = std::min(next_rank_, rank_of(block_ + 1));
  choose_mode(unit);
  return true;
}

bool Machine::branch_table(Unit& unit, End const& end) {
  auto const* index = reinterpret_cast<std::uint32_t const*>(context_.registers + end.index);
  std::vector<std::pair<std::uint32_t, Bits>> parts;  // by block
  for (std::uint32_t w = 0; w < unit.warps; ++w)
    for (std::uint32_t bits = bits_[w]; bits; bits &= bits - 1) {
      std::uint32_t const lane = static_cast<std::uint32_t>(std::countr_zero(bits));
      std::uint32_t const value = index[w * lanes_per_warp + lane];
      if (value >= end.targets.size())
        throw fault(
            Finding::Kind::trap, end.instruction, (unit.first_warp + w) * lanes_per_warp + lane,
            "branch index " + std::to_string(value) + " is outside the table of " + std::to_string(end.targets.size()));
      std::uint32_t const target = end.targets[value];
      auto part = std::find_if(parts.begin(), parts.end(), [&](auto const& p) { return p.first == target; });
      if (part == parts.end()) part = parts.insert(part, {target, Bits{}});
      part->second[w] |= 1u << lane;
    }
  if (context_.observed) {
    Lanes const lanes = lanes_of(bits_, unit);
    for (Observer* o : observers_) o->branch(end.instruction, lanes, lanes);
  }
  if (parts.size() == 1) {
    block_ = parts[0].first;
    return true;
  }
  for (auto const& [target, lanes] : parts) push(unit, target, lanes);
  return false;
}

std::uint32_t Machine::first_thread(std::uint32_t const* bits) const {
  for (std::uint32_t w = 0; w < unit_->warps; ++w)
    if (bits[w])
      return (unit_->first_warp + w) * lanes_per_warp + static_cast<std::uint32_t>(std::countr_zero(bits[w]));
  return unit_->first_warp * lanes_per_warp;
}

std::uint64_t Machine::group_of(std::uint32_t thread) const {
  return group_lanes_ ? packed_groups_[thread / group_lanes_] : group_;
}

Fault Machine::fault(Finding::Kind kind, std::uint32_t instruction, std::uint32_t thread, std::string message) const {
  std::uint64_t const group = group_of(thread);
  if (group_lanes_) thread %= group_lanes_;
  return {found_at(program_, launch_, kind, group, thread, instruction, std::move(message)), Ending::finding};
}

void Machine::pass_over(Finding::Kind kind, std::uint32_t instruction, std::uint32_t thread,
                        std::function<std::string()> const& message) const {
  auto const made = [&] { return fault(kind, instruction, thread, message()); };
  if (!budget_.passed_over) throw made();
  budget_.passed_over->add(kind, instruction, group_of(thread), [&] { return made().finding; });
}

void Machine::check_budget() {
  auto const limit = spent_.check(std::uint64_t{code_[block_].length} * live_warps_);
  if (limit != Spending::Limit::none) stop(limit, p_.blocks[block_].first);
}

void Machine::stop(Spending::Limit limit, std::uint32_t instruction) const {
  bool const steps = limit == Spending::Limit::steps;
  Fault stopped = fault(Finding::Kind::limit, instruction, first_thread(bits_.data()),
                        steps ? "stopped after " + std::to_string(budget_.max_steps) + " warp instructions"
                              : "stopped by the time limit");
  stopped.ending = steps ? Ending::step_limit : Ending::time_limit;
  stopped.spinning = Turns::spinning(context_.syncs);
  throw stopped;
}

void Machine::work(std::uint32_t instruction, std::uint64_t units) {
  if (spent_.work(units)) stop(Spending::Limit::time, instruction);
}

// The running fragment stops at the end of its block.
void Machine::let_others_run() {
  context_.deadline = Turns::never;
  next_rank_ = 0;
  turns_.let_others_run(context_.syncs, units_.size() > 1 || !alone_);
}

void note_sync(Context& c, MicroOp const&) {
  if (++c.syncs >= c.deadline) static_cast<Machine*>(c.machine)->let_others_run();
}

void note_idling(Context& c, MicroOp const& op) {
  ++c.failing_since;
  note_sync(c, op);
}

void note_work(Context& c, MicroOp const& op, std::uint64_t units) {
  static_cast<Machine*>(c.machine)->work(op.instruction, units);
}

}  // namespace kernelcast::emu
