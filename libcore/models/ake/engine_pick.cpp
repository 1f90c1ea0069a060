// Which wavefront issues next, and when.
#include "models/ake/engine_run.hpp"

namespace kernelcast::model::ake {

// Sets when the scheduler issues next, and which wavefront.
void Engine::select(Slot& slot) {
  slot.pick = Slot::none;
  slot.next = never_ticks;
  std::size_t const n = slot.ready.size();
  if (n == 0) return;
  if (machine_.issuing.by_kind) return select_by_kind(slot);
  if (setting_.scheduler == Scheduler::gto) return select_greedy(slot);
  Ticks const earliest = *std::min_element(slot.ready.begin(), slot.ready.end());
  if (earliest == never_ticks) return;
  slot.next = std::max(slot.free, earliest);
  slot.pick = setting_.scheduler == Scheduler::rr ? pick_in_turn(slot, slot.next) : pick_two_level(slot, slot.next);
}

// The wavefront that issued last, if ready when the slot is free; else the oldest that is; else the first to become
// ready.
void Engine::select_greedy(Slot& slot) {
  Ticks const* const ready = slot.ready.data();
  std::size_t const n = slot.ready.size();
  Ticks const free = slot.free;
  slot.next = free;
  slot.pick = slot.last;
  if (slot.last != Slot::none && ready[slot.last] <= free) return;
  Ticks earliest = never_ticks;
  std::size_t first = Slot::none;
  for (std::size_t i = 0; i < n; ++i) {
    Ticks const r = ready[i];
    if (r <= free) {
      slot.pick = i;
      return;
    }
    first = r < earliest ? i : first;
    earliest = r < earliest ? r : earliest;
  }
  slot.next = earliest;
  if (slot.last == Slot::none || ready[slot.last] != earliest) slot.pick = first;
}

// The first that can issue, of those of equal time the oldest.
void Engine::select_by_kind(Slot& slot) {
  auto const number = static_cast<unsigned>(&slot - slots_.data());
  Ticks const turn = machine_.issue_gap;
  Ticks const phase = machine_.issuing.staggered ? turn * number / parts_ : 0;
  for (std::size_t i = 0; i < slot.ready.size(); ++i) {
    if (slot.ready[i] == never_ticks) continue;
    Op const& op = *warps_[slot.warp[i]].op;
    Ticks t = std::max({slot.ready[i], slot.free_of[static_cast<std::size_t>(op.issue)], phase});
    // A unit of several schedulers is waited for behind the issue, as others are.
    if (op.issue == IssueKind::vector && op.unit != Unit::none && (op.per_scheduler || parts_ == 1))
      t = std::max(t, admission(op.unit, op.per_scheduler ? number : 0));
    if (machine_.issuing.staggered) t = phase + (t - phase + turn - 1) / turn * turn;
    if (t >= slot.next) continue;
    slot.next = t;
    slot.pick = i;
  }
}

std::size_t Engine::pick_in_turn(Slot const& slot, Ticks t) const {
  std::size_t const n = slot.ready.size();
  std::size_t i = slot.last == Slot::none ? 0 : slot.last + 1;
  for (std::size_t k = 0; k < n; ++k, ++i) {
    if (i >= n) i -= n;
    if (slot.ready[i] <= t) return i;
  }
  return Slot::none;
}

// In turn among the active part; when none of it is ready, the next part that has one becomes active.
std::size_t Engine::pick_two_level(Slot& slot, Ticks t) const {
  std::size_t const n = slot.ready.size(), size = std::max(1u, setting_.active_warps);
  std::size_t const groups = (n + size - 1) / size;
  for (std::size_t k = 0; k < groups; ++k) {
    std::size_t const g = (slot.group + k) % groups, begin = g * size, end = std::min(n, begin + size);
    std::size_t const after = slot.last != Slot::none && slot.last >= begin && slot.last < end ? slot.last + 1 : begin;
    for (std::size_t j = 0; j < end - begin; ++j) {
      std::size_t const i = begin + (after - begin + j) % (end - begin);
      if (slot.ready[i] > t) continue;
      slot.group = g;
      return i;
    }
  }
  return Slot::none;
}

}  // namespace kernelcast::model::ake
