// Fairness: lanes that wait for others yield to them. Internal to emu.
//
// Problem: with the earliest fragment always first, lanes that spin on a lock keep the lane that holds it from ever
// releasing it, be it in the same warp, in another fragment of the unit or in another unit.
// Method: blocks with a synchronising operation are counted (Context::syncs). When a fragment that could run has waited
// for a budget of them (`wait_budget_`), it becomes the only ready one; all others are passed over until no ready one
// is left, or until the budget is used up again, when the one that has waited longest takes its turn. Likewise a unit
// that has executed `unit_budget_` of them gives way to the next unit of its group, and soon where a barrier with a
// count is complete: lanes that spin meanwhile may wait for those at it. Programs that spin do so for long, hence each
// turn halves the budget; it begins anew with each group, so that groups do not depend on each other. Every fragment
// gets a turn, and in it makes progress: after finitely many turns it has left its loop or none can.
//
// Lanes that have found a lock taken a few times in a row, none of them getting it, are passed over at once; all others
// go on in their order, so that lanes of a warp still meet.
//
// Lanes that have all found phases of a few mbarriers incomplete wait until one is complete, and test again only when
// all others wait, too: what a wait counts does not depend on how long it is. Lanes of the same warp that are further
// on are held meanwhile, as long as anything else can run: they mostly go to where all of the warp meet (shfl.sync).
//
// A group that has executed very many of them is set aside for later ones (residents.cpp).
//
// Limits: a loop without any synchronising operation never yields.
#pragma once

#include <algorithm>
#include <cstdint>

#include "emulator/machine/unit.hpp"

namespace kernelcast::emu {

// How long a group goes on before others have their turn, in blocks with a synchronising operation.
enum class TurnLength : std::uint8_t {
  endless,      // until it ends
  long_turn,    // long enough that hardly any group which does not wait for others is ever set aside
  turns,        // it runs among others, because some group was set aside
  short_turns,  // the same in a cooperative launch
};

// Counts are Context::syncs.
class Turns {
 public:
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  static bool spinning(std::uint64_t syncs) { return syncs >= initial_budget; }  // that a program may do nothing else

  void begin(TurnLength);  // of a group
  void begin_turn(std::uint64_t syncs);
  bool over(std::uint64_t syncs) const { return syncs >= turn_end_; }
  void begin_unit(std::uint64_t syncs) { unit_deadline_ = syncs + unit_budget_; }
  void leave_soon(std::uint64_t syncs) { unit_deadline_ = std::min(unit_deadline_, syncs + complete_budget); }

  // When the running fragment is to stop: `oldest` began to wait first, some are `parked`.
  std::uint64_t deadline(std::uint64_t oldest, bool parked, bool several_units) const;
  // It is time: the running fragment stops at the end of its block. `others`: units or fragments.
  void let_others_run(std::uint64_t syncs, bool others);
  void leave() { yielding_ = leaving_ = true; }  // whatever the budgets
  bool yielding() const { return yielding_; }
  bool leaving() const { return leaving_; }  // the unit
  // Makes the fragment that has waited longest the only ready one, if others kept it waiting.
  void rotate(Unit&, std::uint64_t syncs);
  void left() { leaving_ = false; }
  // Fragments of which a phase is complete are ready again; or, where none can run, all that wait for one.
  static void test_phases(Unit&, std::uint64_t syncs, bool all);
  // Lanes behind others of their warp that wait for a phase are held.
  static void hold(Unit&, std::uint64_t syncs);
  // No fragment is ready: lanes of a warp that have met go on, else those that were passed over.
  static bool wake(Unit&, std::uint64_t syncs);

 private:
  static constexpr std::uint32_t initial_budget = 1024, min_budget = 32, min_unit_budget = 128, complete_budget = 8;

  std::uint32_t wait_budget_ = 0, unit_budget_ = 0;
  std::uint64_t quantum_end_ = 0, unit_deadline_ = 0;
  bool yielding_ = false, leaving_ = false;
  TurnLength turns_ = TurnLength::endless;
  std::uint64_t turn_budget_ = 0, turn_end_ = never;
};

}  // namespace kernelcast::emu
