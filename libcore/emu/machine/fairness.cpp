// Fairness: lanes that wait for others yield to them.
//
// Problem: with the earliest fragment always first, lanes that spin on a lock keep the lane that holds it from ever
// releasing it, be it in the same warp, in another fragment of the unit or in another unit.
// Method: blocks with a synchronising operation are counted (Context::syncs). When a fragment that could run has waited
// for a budget of them (`wait_budget_`), it becomes the only ready one; all others are passed over until no ready one
// is left, or until the budget is used up again, when the one that has waited longest takes its turn. Likewise a unit
// that has executed `unit_budget_` of them gives way to the next unit of its group. Programs that spin do so for long,
// hence each turn halves the budget; it begins anew with each group, so that groups do not depend on each other. Every
// fragment gets a turn, and in it makes progress: after finitely many turns it has left its loop or none can.
//
// A group that has executed very many of them is set aside for later ones (residents.cpp).
//
// Limits: a loop without any synchronising operation never yields.
#include <algorithm>

#include "emu/machine/machine.hpp"

namespace kernelcast::emu {

namespace {
constexpr std::uint64_t never = ~std::uint64_t{0};
constexpr std::uint64_t first_turn = 4096, min_turn = 256;  // of groups that run among others
}  // namespace

void note_sync(Context& c, MicroOp const&) {
  if (++c.syncs >= c.deadline) static_cast<Machine*>(c.machine)->let_others_run();
}

void Machine::begin_fairness(TurnLength turns) {
  constexpr std::uint64_t first_of[] = {never, 1 << 18, 4096, 64};
  turns_ = turns;
  turn_budget_ = first_of[static_cast<std::size_t>(turns)];
  wait_budget_ = unit_budget_ = initial_budget;
  context_.syncs = 0;
  context_.deadline = never;
  quantum_end_ = 0;
  yielding_ = leaving_ = false;
}

// A group that is set aside again and again is waiting: its turns become shorter.
void Machine::begin_turn() {
  if (turns_ == TurnLength::endless) return;
  turn_end_ = context_.syncs + turn_budget_;
  turn_budget_ =
      turns_ == TurnLength::short_turns ? turn_budget_ : std::max(std::min(turn_budget_, first_turn) / 2, min_turn);
}

void Machine::set_deadline(std::uint64_t oldest, bool parked) {
  std::uint64_t deadline = oldest == never ? never : std::max(oldest + wait_budget_, quantum_end_);
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
  if (leaving_ || context_.syncs >= unit_deadline_) unit_budget_ = std::max(unit_budget_ / 2, min_unit_budget);
  open_warp_barriers(unit);
  Fragment const* oldest = nullptr;
  for (Fragment const& f : unit.fragments)
    if (!f.parked() && (!oldest || f.since < oldest->since || (f.since == oldest->since && f.key < oldest->key)))
      oldest = &f;
  if (!oldest || oldest->since + wait_budget_ > context_.syncs) return;
  std::uint64_t const key = oldest->key;
  for (Fragment& f : unit.fragments)
    if (!f.parked()) f.state = f.key == key ? Fragment::State::ready : Fragment::State::passed_over;
  wait_budget_ = std::max(wait_budget_ / 2, min_budget);
  quantum_end_ = context_.syncs + wait_budget_;
}

// No fragment is ready: lanes of a warp that have met go on, else those that were passed over.
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
