// Fragments that arrive at barriers park until these open (barriers.hpp).
#include <bit>

#include "emulator/machine/machine.hpp"

namespace kernelcast::emu {

namespace {
constexpr std::uint32_t nowhere = ~std::uint32_t{0};
}

// Warps that run together may name different barriers, or other numbers of threads: each part for itself.
bool Machine::at_several_barriers(Unit& unit, End const& end) {
  auto const* index = reinterpret_cast<std::uint32_t const*>(unit.registers + end.index);
  auto const* count = end.count == no_slot ? index : reinterpret_cast<std::uint32_t const*>(unit.registers + end.count);
  Bits rest = bits_;
  for (;;) {
    Bits part{};
    std::uint32_t first = nowhere;
    for (std::uint32_t w = 0; w < unit.warps; ++w)
      for (std::uint32_t bits = rest[w]; bits; bits &= bits - 1) {
        std::uint32_t const lane = w * lanes_per_warp + static_cast<std::uint32_t>(std::countr_zero(bits));
        if (first == nowhere) first = lane;
        if (index[lane] == index[first] && count[lane] == count[first]) part[w] |= 1u << lane % lanes_per_warp;
      }
    if (first == nowhere) return false;
    for (std::uint32_t w = 0; w < unit.warps; ++w) rest[w] &= ~part[w];
    bits_ = part;
    if (at_one_barrier(unit, end, false)) push(unit, block_--, bits_);
  }
}

bool Machine::at_barrier(Unit& unit, End const& end) {
  auto const differs = [&](std::uint32_t slot) {
    if (slot == no_slot) return false;
    auto const* value = reinterpret_cast<std::uint32_t const*>(unit.registers + slot);
    std::uint32_t const first = lane_value(unit, slot, bits_);
    for (std::uint32_t w = 0; w < unit.warps; ++w)
      for (std::uint32_t bits = bits_[w]; bits; bits &= bits - 1)
        if (value[w * lanes_per_warp + static_cast<std::uint32_t>(std::countr_zero(bits))] != first) return true;
    return false;
  };
  if (end.numbered && (differs(end.index) || differs(end.count))) return at_several_barriers(unit, end);
  return at_one_barrier(unit, end, true);
}

bool Machine::at_one_barrier(Unit& unit, End const& end, bool everyone) {
  std::uint32_t const barrier = end.cluster ? Barriers::cluster : lane_value(unit, end.index, bits_);
  std::uint32_t const threads = end.count == no_slot ? 0 : lane_value(unit, end.count, bits_);
  if (context_.observed) {
    Lanes const lanes = lanes_of(bits_, unit);
    for (Observer* o : observers_) o->barrier(end.instruction, lanes, barrier, threads);
  }
  if (barrier >= Barriers::cluster && !end.cluster)
    throw fault(Finding::Kind::trap, end.instruction, first_thread(bits_.data()),
                "barrier " + std::to_string(barrier) + " does not exist: there are 16");
  if (end.kind == End::Kind::arrive) {
    barriers_.arrive(barrier, unit, bits_);
    ++block_;
    return true;
  }
  // The whole group is here: nothing to wait for.
  if (everyone && !(end.cluster && cluster_) && units_.size() == 1 && unit.fragments.empty() && threads == 0 &&
      end.reduction == End::Reduction::none) {
    if (context_.observed)
      for (Observer* o : observers_) o->meet({bits_.data(), nullptr, unit.warps, true});
    ++block_;
    return true;
  }
  park(unit, end, barrier, threads);
  return false;
}

void Machine::park(Unit& unit, End const& end, std::uint32_t barrier, std::uint32_t threads) {
  push(unit, block_ + 1, bits_);
  Fragment& waiting = unit.fragments.back();
  waiting.state = Fragment::State::parked;
  waiting.barrier = barrier;
  waiting.threads = threads;
  waiting.instruction = end.instruction;
  waiting.aligned = end.aligned;
  waiting.end = &end;
  if (end.reduction == End::Reduction::none) return;
  waiting.holds = predicate(end.reduced);
  for (std::uint32_t w = 0; w < unit.warps; ++w)
    waiting.holds[w] = (end.reduced_negated ? ~waiting.holds[w] : waiting.holds[w]) & bits_[w];
}

bool Machine::at_warp_barrier(Unit& unit, End const& end) {
  bool complete = true;
  auto const* mask = reinterpret_cast<std::uint32_t const*>(unit.registers + end.index);
  for (Fragment const& f : unit.fragments)
    for (std::uint32_t w = 0; w < unit.warps; ++w)
      for (std::uint32_t bits = f.bits[w] ? bits_[w] : 0; bits; bits &= bits - 1)
        complete &= (mask[w * lanes_per_warp + static_cast<std::uint32_t>(std::countr_zero(bits))] & f.bits[w]) == 0;
  if (complete) {
    ++block_;
    return true;
  }
  park(unit, end, Barriers::warp, 0);
  return false;
}

bool Machine::release(bool running) {
  bool const held = cluster_ && !cluster_open_;
  auto const released = barriers_.release({units_, threads_, group_lanes_, context_.syncs, observers_, held}, running);
  if (released == Barriers::Released::stuck) stuck();
  waits_for_cluster_ = released == Barriers::Released::held;
  if (released == Barriers::Released::some && !running) cluster_open_ = false;
  return released == Barriers::Released::some;
}

// No work-item can go on: names the first place of the text where work-items wait, and another.
void Machine::stuck() {
  Fragment const *one = nullptr, *other = nullptr;
  for (Unit& unit : units_)
    for (Fragment const& f : unit.fragments) {
      if (one && f.instruction >= one->instruction) continue;
      one = &f;
      unit_ = &unit;
    }
  for (Unit& unit : units_)
    for (Fragment const& f : unit.fragments)
      if (f.instruction != one->instruction && !other) other = &f;
  auto place = [&](Fragment const& f) {
    ptx::Instruction const& i = p_.kernel->instructions[f.instruction];
    std::string const source = p_.module->describe(i.source);
    std::string const name = f.barrier == Barriers::warp      ? "the barrier of a warp"
                             : f.barrier == Barriers::cluster ? "the barrier of the cluster"
                                                              : "barrier " + std::to_string(f.barrier);
    return name + " at " + p_.module->path + ":" + std::to_string(i.at.line) +
           (source.empty() ? "" : " (" + source + ")");
  };
  bool const diverged = other && one->barrier != Barriers::warp && other->barrier != Barriers::warp;
  std::string message;
  if (other)
    message = "work-items of one group wait at different barriers: " + place(*one) + " and " + place(*other);
  else if (one->barrier == Barriers::warp)
    message = "work-items wait for ever at " + place(*one) + " for others of its mask";
  else
    message =
        "work-items wait for ever at " + place(*one) + ", which asks for " + std::to_string(one->threads) + " threads";
  throw fault(diverged ? Finding::Kind::divergent_barrier : Finding::Kind::deadlock, one->instruction,
              first_thread(one->bits.data()), message);
}

}  // namespace kernelcast::emu
