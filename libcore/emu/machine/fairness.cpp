// Fairness: who waits for others lets them run.
//
// Problem: with the earliest fragment always first, lanes that spin on a lock keep the lane that holds it from ever
// releasing it, be it in the same warp, in another fragment of the unit or in another unit.
// Method: blocks with a synchronising operation are counted (Context::syncs). When a fragment that could run has waited
// for `patience` of them, it becomes the only ready one; all others are passed over until no ready one is left, or
// until the patience has run out again, when the one that has waited longest takes its turn. Likewise a unit that has
// executed `unit_patience` of them gives way to the next unit of its group. Programs that spin do so for long, hence
// each turn halves the patience; it begins anew with each group, so that groups do not depend on each other. Every
// fragment gets a turn, and in it makes progress: after finitely many turns it has left its loop or nobody can.
//
// A group that has executed very many of them is set aside for later ones (residents.cpp).
//
// Limits: a loop without any synchronising operation never yields.
#include <algorithm>

#include "emu/machine/machine.hpp"

namespace kernelcast::emu {

namespace {
constexpr std::uint64_t never = ~std::uint64_t{0};
constexpr std::uint64_t first_turn = 4096, least_turn = 256;  // of groups that run among others
}  // namespace

void note_sync(Context& c, MicroOp const&) {
  if (++c.syncs >= c.deadline) static_cast<Machine*>(c.machine)->let_others_run();
}

void Machine::begin_fairness(Patience turns) {
  constexpr std::uint64_t first_of[] = {never, 1 << 18, 4096, 64};
  turns_ = turns;
  turn_patience_ = first_of[static_cast<std::size_t>(turns)];
  patience_ = unit_patience_ = first_patience;
  context_.syncs = 0;
  context_.deadline = never;
  quantum_end_ = 0;
  yielding_ = leaving_ = false;
}

// Who is set aside again and again waits: its turns become shorter.
void Machine::begin_turn() {
  if (turns_ == Patience::endless) return;
  turn_end_ = context_.syncs + turn_patience_;
  turn_patience_ =
      turns_ == Patience::short_turns ? turn_patience_ : std::max(std::min(turn_patience_, first_turn) / 2, least_turn);
}

void Machine::set_deadline(std::uint64_t oldest, bool parked) {
  std::uint64_t deadline = oldest == never ? never : std::max(oldest + patience_, quantum_end_);
  // A barrier with a count may be complete, and only release() opens it.
  if (parked || units_.size() > 1) deadline = std::min(deadline, unit_deadline_);
  deadline = std::min(deadline, turn_end_);
  context_.deadline = deadline;
}

// The running fragment stops at the end of its block.
void Machine::let_others_run() {
  context_.deadline = never;
  next_rank_ = 0;
  yielding_ = true;
  if (context_.syncs >= turn_end_ || (context_.syncs >= unit_deadline_ && (units_.size() > 1 || !alone_)))
    leaving_ = true;
}

// Makes the fragment that has waited longest the only ready one, if others kept it waiting.
void Machine::rotate(Unit& unit) {
  yielding_ = false;
  if (leaving_ || context_.syncs >= unit_deadline_) unit_patience_ = std::max(unit_patience_ / 2, least_unit_patience);
  open_warp_barriers(unit);
  Fragment const* oldest = nullptr;
  for (Fragment const& f : unit.fragments)
    if (!f.parked() && (!oldest || f.since < oldest->since || (f.since == oldest->since && f.key < oldest->key)))
      oldest = &f;
  if (!oldest || oldest->since + patience_ > context_.syncs) return;
  std::uint64_t const key = oldest->key;
  for (Fragment& f : unit.fragments)
    if (!f.parked()) f.state = f.key == key ? Fragment::State::ready : Fragment::State::passed_over;
  patience_ = std::max(patience_ / 2, least_patience);
  quantum_end_ = context_.syncs + patience_;
}

// Nobody is ready: lanes of a warp that have met go on, else those that were passed over.
bool Machine::wake(Unit& unit) {
  bool woken = open_warp_barriers(unit);
  if (woken) return true;
  for (Fragment& f : unit.fragments)
    if (f.state == Fragment::State::passed_over) {
      f.state = Fragment::State::ready;
      woken = true;
    }
  return woken;
}

}  // namespace kernelcast::emu
