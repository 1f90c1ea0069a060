// What wavefronts wait for: operands, mbarriers, barriers; and what follows when one ends.
#include <fmt/format.h>

#include "base/diag/diag.hpp"
#include "models/ake/engine_run.hpp"

namespace kernelcast::model::ake {

// ---------------------------------------------------------------- operands

void Engine::wait_for_operands(Slot& slot, std::size_t index, Warp& warp, Ticks not_before) {
  Op const& op = *warp.op;
  Stamp latest = stamp(not_before, false);
  std::uint16_t const* source = code_.operands.data() + op.operands;
  for (unsigned s = 0; s < op.sources; ++s) latest = std::max(latest, warp.slots[source[s]]);
  if (op.kind == OpKind::wait)
    latest = std::max(latest, stamp(under_way(warp, op.queue).complete(op.pending), op.queue != Queue::products));
  Event const* const e = op.kind == OpKind::phase ? event(op, warp) : nullptr;
  if (e && e->count > 0) {
    auto const& arrivals = places_[warp.place].objects[e->object];
    if (arrivals.size() < e->count) {
      warp.waits = Warp::at_phase;
      ++places_[warp.place].at_phases;
      slot.ready[index] = never_ticks;
      return;
    }
    Stamp const there = arrivals[e->count - 1];
    warp.from_barrier = there > latest && (there & 1) == 0;
    latest = std::max(latest, there);
  }
  slot.cause[index] = latest;
  slot.ready[index] = ticks_of(latest);
}

// ---------------------------------------------------------------- mbarriers

void Engine::signal(Warp const& from, Event const& e, Stamp when) {
  Place& place = places_[from.place];
  auto& arrivals = place.objects[e.object];
  arrivals.push_back(arrivals.empty() ? when : std::max(arrivals.back(), when));
  if (place.at_phases == 0) return;
  for (Slot& slot : slots_) {
    bool changed = false;
    for (std::size_t i = 0; i < slot.warp.size(); ++i) {
      Warp& warp = warps_[slot.warp[i]];
      if (warp.place != from.place || warp.waits != Warp::at_phase) continue;
      Event const* const wanted = event(*warp.op, warp);
      if (wanted->object != e.object || wanted->count > arrivals.size()) continue;
      warp.waits = Warp::going;
      --place.at_phases;
      wait_for_operands(slot, i, warp, warp.issued + machine_.issuing.wavefront_turn);
      changed = true;
    }
    if (changed) select(slot);
  }
}

// ---------------------------------------------------------------- barriers, ends, successors

// A barrier that names how many wavefronts open it opens when so many have arrived, others when all that run have.
void Engine::arrive(Slot& slot, std::size_t index, Warp& warp, Op const& op) {
  Place& place = places_[warp.place];
  Cost const& cost = machine_.of(Class::barrier);
  Event const* const e = event(op, warp);
  bool const counts = e && e->count > 0;
  Arrived& arrived = counts ? place.named[e->object] : place.arrived;
  std::uint8_t const waiting = counts ? static_cast<std::uint8_t>(Warp::named + e->object) : Warp::at_barrier;
  // The wavefront's own arrival is admitted by the barrier unit in execute().
  arrived.add(admission(Unit::barrier, 0) - cost.gap);
  if (!op.passes) {
    slot.ready[index] = never_ticks;
    warp.waits = waiting;
    warp.from_barrier = true;
  }
  if (arrived.count >= (counts ? e->count : place.running)) release(warp.place, arrived, waiting);
  if (!op.passes) select(slot);
}

void Engine::release(std::size_t number, Arrived& arrived, std::uint8_t waiting) {
  Ticks const when = arrived.last + machine_.of(Class::barrier).latency;
  out_.end = std::max(out_.end, when);
  arrived = {};
  for (unsigned s = 0; s < parts_; ++s) {
    Slot& slot = slots_[s];
    bool changed = false;
    for (std::size_t i = 0; i < slot.warp.size();) {
      Warp& warp = warps_[slot.warp[i]];
      if (warp.place != number || warp.waits != waiting) {
        ++i;
        continue;
      }
      changed = true;
      warp.waits = Warp::going;
      if (!advance(warp)) {  // a barrier was its last instruction
        std::size_t const before = slot.warp.size();
        finish(s, i, when);
        if (slot.warp.size() >= before) ++i;
        continue;
      }
      warp.from_barrier = false;
      wait_for_operands(slot, i, warp, std::max(when, warp.issued + machine_.issuing.wavefront_turn));
      warp.from_barrier |= slot.ready[i] <= when;
      ++i;
    }
    if (changed) select(slot);
  }
}

void Engine::finish(unsigned scheduler, std::size_t index, Ticks t) {
  Slot& slot = slots_[scheduler];
  std::uint32_t const id = slot.warp[index];
  Warp& warp = warps_[id];
  std::size_t const number = warp.place;
  Place& place = places_[number];
  out_.warp_ticks += t - warp.started;
  slot.ready.erase(slot.ready.begin() + static_cast<std::ptrdiff_t>(index));
  slot.cause.erase(slot.cause.begin() + static_cast<std::ptrdiff_t>(index));
  slot.warp.erase(slot.warp.begin() + static_cast<std::ptrdiff_t>(index));
  if (slot.last != Slot::none) {
    // In turn: the next one is in its place now.
    if (slot.last == index && (setting_.scheduler == Scheduler::gto || index == 0))
      slot.last = Slot::none;
    else if (slot.last >= index)
      --slot.last;
  }
  --living_;
  --place.running;
  if (place.running == 0) {
    if (setting_.groups > started_) {
      start_group(number, resident_[started_ % resident_.size()], t + setting_.launch_ticks);
      for (Slot& other : slots_) select(other);
      return;
    }
  } else if (place.arrived.count == place.running) {
    place.arrived.last = std::max(place.arrived.last, t);  // its end was the last arrival
    release(number, place.arrived, Warp::at_barrier);
  }
  select(slot);
}

void Engine::refuse_order() const {
  auto const waits = std::ranges::find_if(warps_, [](Warp const& w) { return w.waits != Warp::going; });
  throw Error(Status::bad_data,
              fmt::format("the rows of group {} are not in the order in which they ran: wavefront {} waits for ever",
                          group(*waits).number, waits->number),
              "miniemu --emit trace writes them so; a trace whose kernel uses mbarriers must not be sorted");
}

}  // namespace kernelcast::model::ake
