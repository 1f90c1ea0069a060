#include "emulator/machine/turns.hpp"

#include <algorithm>
#include <cstring>

#include "emulator/machine/barriers.hpp"
#include "emulator/opcodes/copy.hpp"

namespace kernelcast::emu {

namespace {
constexpr std::uint64_t first_turn = 4096, min_turn = 256;  // of groups that run among others

bool runs(Fragment const& f) {
  return f.state == Fragment::State::ready || f.state == Fragment::State::passed_over;
}
}  // namespace

void Turns::begin(TurnLength turns) {
  constexpr std::uint64_t first_of[] = {never, 1 << 18, 4096, 64};
  turns_ = turns;
  turn_budget_ = first_of[static_cast<std::size_t>(turns)];
  wait_budget_ = unit_budget_ = initial_budget;
  quantum_end_ = 0;
  yielding_ = leaving_ = false;
}

// A group that is set aside again and again is waiting: its turns become shorter.
void Turns::begin_turn(std::uint64_t syncs) {
  if (turns_ == TurnLength::endless) return;
  turn_end_ = syncs + turn_budget_;
  turn_budget_ =
      turns_ == TurnLength::short_turns ? turn_budget_ : std::max(std::min(turn_budget_, first_turn) / 2, min_turn);
}

std::uint64_t Turns::deadline(std::uint64_t oldest, bool parked, bool several_units) const {
  std::uint64_t deadline = oldest == never ? never : std::max(oldest + wait_budget_, quantum_end_);
  // A barrier with a count may be complete, and only Barriers::release() opens it.
  if (parked || several_units) deadline = std::min(deadline, unit_deadline_);
  return std::min(deadline, turn_end_);
}

void Turns::let_others_run(std::uint64_t syncs, bool others) {
  yielding_ = true;
  if (syncs >= turn_end_ || (syncs >= unit_deadline_ && others)) leaving_ = true;
}

void Turns::rotate(Unit& unit, std::uint64_t syncs) {
  yielding_ = false;
  if (leaving_ || syncs >= unit_deadline_) unit_budget_ = std::max(unit_budget_ / 2, min_unit_budget);
  Barriers::open_warp_barriers(unit, syncs);
  Fragment const* oldest = nullptr;
  for (Fragment const& f : unit.fragments)
    if (runs(f) && (!oldest || f.since < oldest->since || (f.since == oldest->since && f.key < oldest->key)))
      oldest = &f;
  if (!oldest || oldest->since + wait_budget_ > syncs) return;
  std::uint64_t const key = oldest->key;
  for (Fragment& f : unit.fragments)
    if (runs(f)) f.state = f.key == key ? Fragment::State::ready : Fragment::State::passed_over;
  wait_budget_ = std::max(wait_budget_ / 2, min_budget);
  quantum_end_ = syncs + wait_budget_;
}

void Turns::test_phases(Unit& unit, std::uint64_t syncs, bool all) {
  auto const is_complete = [](Phase const& phase) {
    std::uint64_t word = 0;
    std::memcpy(&word, phase.object, sizeof word);
    return !is_in_phase(word, phase.parity);
  };
  for (Fragment& f : unit.fragments) {
    if (f.state != Fragment::State::waiting) continue;
    if (std::any_of(f.waits.phases.begin(), f.waits.phases.begin() + f.waits.count, is_complete))
      f.state = Fragment::State::ready;
    else
      f.since = syncs;
  }
  hold(unit, syncs);
  if (!all || std::ranges::any_of(unit.fragments, runs)) return;
  auto const holds = [](Fragment const& f) { return f.state == Fragment::State::held; };
  auto const woken = std::ranges::any_of(unit.fragments, holds) ? Fragment::State::held : Fragment::State::waiting;
  for (Fragment& f : unit.fragments)
    if (f.state == woken) f.state = Fragment::State::ready;
}

void Turns::hold(Unit& unit, std::uint64_t syncs) {
  for (Fragment& f : unit.fragments)
    if (f.state == Fragment::State::held) f.state = Fragment::State::ready;
  for (std::size_t k = 0; k < unit.fragments.size(); ++k) {
    if (unit.fragments[k].state != Fragment::State::ready) continue;
    Bits behind{};
    bool some = false, all = true;
    for (Fragment const& g : unit.fragments)
      if (g.state == Fragment::State::waiting && g.key < unit.fragments[k].key)
        for (std::uint32_t w = 0; w < unit.warps; ++w)
          if (g.bits[w]) behind[w] = unit.fragments[k].bits[w];
    for (std::uint32_t w = 0; w < unit.warps; ++w) {
      some |= behind[w] != 0;
      all &= behind[w] == unit.fragments[k].bits[w];
    }
    if (!some) continue;
    if (!all) {
      Fragment ahead = unit.fragments[k];
      for (std::uint32_t w = 0; w < unit.warps; ++w) ahead.bits[w] &= ~behind[w];
      unit.fragments[k].bits = behind;
      unit.fragments.push_back(ahead);
    }
    unit.fragments[k].state = Fragment::State::held;
    unit.fragments[k].since = syncs;
  }
}

bool Turns::wake(Unit& unit, std::uint64_t syncs) {
  bool woken = Barriers::open_warp_barriers(unit, syncs);
  if (woken) return true;
  for (Fragment& f : unit.fragments)
    if (f.state == Fragment::State::passed_over) {
      f.state = Fragment::State::ready;
      woken = true;
    }
  return woken;
}

}  // namespace kernelcast::emu
