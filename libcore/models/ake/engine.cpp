#include "models/ake/engine.hpp"

#include <cmath>

#include "models/ake/engine_run.hpp"

namespace kernelcast::model::ake {

Engine::Engine(Machine const& machine, Code const& code, std::vector<Group const*> const& resident,
               Setting const& setting)
    : machine_(machine), code_(code), resident_(resident), setting_(setting), parts_(machine.schedulers) {
  l1_gap_ = machine.of(Class::gmem_load_l1).gap;
  double const active = setting.active_units > 0 ? setting.active_units : machine.units;
  l2_gap_ = machine.l2_gap(active);
  dram_gap_ = machine.dram_gap(active);
  l1_latency_ = machine.of(Class::gmem_load_l1).latency;
  l2_latency_ = machine.of(Class::gmem_load_l2).latency;
  dram_latency_ = machine.of(Class::gmem_load_dram).latency;
  atomic_latency_ = machine.of(Class::atomic_global).latency;
  atomic_gap_ = machine.of(Class::atomic_global).gap;
  admit_.assign(unit_count * parts_, 0);
  slots_.resize(parts_);
  places_.resize(resident.size());
  std::size_t warps = 0;
  for (std::size_t p = 0; p < resident.size(); ++p) {
    places_[p].first_warp = static_cast<std::uint32_t>(warps);
    std::size_t most = 0;  // a place takes any of the groups in turn
    for (Group const* g : resident) most = std::max(most, g->warps());
    warps += most;
  }
  warps_.resize(warps);
  if (std::ranges::any_of(code.ops, [](Op const& op) { return op.queue != Queue::none; }))
    under_way_.resize(warps * queue_count);
  registers_.assign(warps * std::max<std::size_t>(1, code.slots), 0);
  for (std::size_t p = 0; p < resident.size(); ++p) start_group(p, resident[p], 0);
  for (Slot& slot : slots_) select(slot);
}

void Engine::start_group(std::size_t place, Group const* group, Ticks when) {
  Place& here = places_[place];
  here.group = group;
  here.running = static_cast<std::uint32_t>(group->warps());
  here.arrived = {};
  here.named = {};
  here.objects.assign(group->objects, {});
  here.at_phases = 0;
  ++started_;
  for (std::uint32_t w = 0; w < group->warps(); ++w) {
    std::uint32_t const id = here.first_warp + w;
    Warp& warp = warps_[id];
    warp = Warp{};
    warp.row = group->rows.data() + group->warp_begin[w];
    warp.last_row = group->rows.data() + group->warp_begin[w + 1];
    warp.slots = registers_.data() + std::size_t{id} * code_.slots;
    warp.started = warp.issued = when;
    warp.place = static_cast<std::uint32_t>(place);
    warp.number = w;
    warp.scheduler = static_cast<std::uint16_t>(id % parts_);
    std::fill_n(warp.slots, code_.slots, stamp(when, false));
    if (!under_way_.empty())
      std::fill_n(under_way_.begin() + static_cast<std::ptrdiff_t>(id * queue_count), queue_count, UnderWay{});
    --warp.row;  // advance() steps to the first
    if (!advance(warp)) {
      --here.running;
      continue;
    }
    Slot& slot = slots_[warp.scheduler];
    slot.ready.push_back(when);
    slot.cause.push_back(stamp(when, false));
    slot.warp.push_back(id);
    ++living_;
    if (warp.op->kind == OpKind::phase) wait_for_operands(slot, slot.warp.size() - 1, warp, when);
  }
}

bool Engine::advance(Warp& warp) {
  while (warp.op != warp.end && warp.op->folded) fold(*warp.op++, warp);
  if (warp.op != warp.end) return true;
  for (++warp.row; warp.row != warp.last_row; ++warp.row) {
    std::uint32_t const begin = code_.block_begin[warp.row->block], end = code_.block_begin[warp.row->block + 1];
    if (begin == end) continue;
    warp.op = code_.ops.data() + begin;
    warp.end = code_.ops.data() + end;
    warp.requests = places_[warp.place].group->requests.data() + warp.row->requests;
    while (warp.op != warp.end && warp.op->folded) fold(*warp.op++, warp);
    if (warp.op == warp.end) continue;
    return true;
  }
  return false;
}

void Engine::fold(Op const& op, Warp& warp) const {
  std::uint16_t const* slot = code_.operands.data() + op.operands;
  Stamp latest = stamp(warp.issued, false);
  for (unsigned s = 0; s < op.sources; ++s) latest = std::max(latest, warp.slots[slot[s]]);
  slot += op.sources;
  for (unsigned d = 0; d < op.destinations; ++d) {
    Stamp& there = warp.slots[slot[d] & ~fresh_slot];
    there = slot[d] & fresh_slot ? latest : std::max(there, latest);
  }
}

// ---------------------------------------------------------------- issue

void Engine::issue(unsigned scheduler) {
  Slot& slot = slots_[scheduler];
  std::size_t index = slot.pick;
  Ticks const t = slot.next;
  Warp& warp = warps_[slot.warp[index]];
  Op const& op = *warp.op;
  Ticks const ready = slot.ready[index];
  Stall const waited = warp.from_barrier              ? Stall::barrier
                       : (slot.cause[index] & 1) != 0 ? Stall::memory
                                                      : Stall::dependency;
  Ticks const able = std::min(t, warp.issued + machine_.issuing.wavefront_turn);
  if (ready > able) out_.stall[static_cast<std::size_t>(waited)] += ready - able;
  out_.stall[static_cast<std::size_t>(Stall::issue)] += t - std::max(ready, able);
  warp.from_barrier = false;
  slot.last = index;
  slot.free = t + machine_.issue_gap;
  if (op.issue != IssueKind::none) slot.free_of[static_cast<std::size_t>(op.issue)] = slot.free;
  if (!machine_.issuing.by_kind || t != slot.last_issue) busy(Unit::none) += machine_.issue_gap;
  slot.last_issue = t;
  if (op.takes_all_slots)
    for (Slot& other : slots_) {
      if (&other == &slot) continue;
      other.free = std::max(other.free, slot.free);
      select(other);
    }
  Ticks const from = warp.issued;
  std::uint32_t const block = warp.row->block;
  out_.end = std::max(out_.end, t);
  out_.last_issue = t;
  execute(op, warp, scheduler, t);
  if (setting_.observe)
    setting_.observe({warp.place, warp.number, places_[warp.place].group->number, block, op.pc, op.unit, from, t, done_,
                      ready > able ? waited : Stall::issue});
  warp.issued = t;
  bool second = setting_.dual_issue && !machine_.issuing.by_kind;
  Ticks next = t + machine_.issuing.wavefront_turn;
  if (op.kind == OpKind::barrier && !op.passes) {
    ++warp.op;
    return arrive(slot, index, warp, op);
  }
  if (op.kind == OpKind::barrier) {
    std::uint32_t const id = slot.warp[index];
    arrive(slot, index, warp, op);  // others may have ended
    index = static_cast<std::size_t>(std::ranges::find(slot.warp, id) - slot.warp.begin());
  }
  for (++warp.op;; ++warp.op) {
    if (!advance(warp)) return finish(scheduler, index, t);
    if (op.branch && warp.row->block != block + 1) next = std::max(next, t + op.latency);
    wait_for_operands(slot, index, warp, next);
    if (!second || slot.ready[index] > t || warp.op->kind == OpKind::barrier || warp.op->unit == op.unit) break;
    second = false;
    execute(*warp.op, warp, scheduler, t);
  }
  select(slot);
}

void Engine::execute(Op const& op, Warp& warp, unsigned scheduler, Ticks t) {
  ++out_.instructions;
  if (op.kind == OpKind::access) return access(op, warp, t);
  if (op.kind == OpKind::product) return multiply(op, warp, scheduler, t);
  if (op.kind == OpKind::commit) {
    under_way(warp, op.queue).commit();
    if (op.queue == Queue::bulk) under_way(warp, Queue::bulk_reads).commit();
  }
  if (op.unit == Unit::none) return complete(op, warp, op.branch ? t : t + op.latency, false);
  Ticks const start = admit(admission(op.unit, op.per_scheduler ? scheduler : 0), t, op.gap);
  busy(op.unit) += op.per_scheduler ? op.gap : op.gap * parts_;
  if (op.kind == OpKind::arrive)
    if (Event const* const e = event(op, warp)) {
      Ticks const before = op.queue == Queue::none ? 0 : under_way(warp, op.queue).complete(0);
      signal(warp, *e, stamp(std::max(before, start + op.gap), before > start + op.gap));
    }
  complete(op, warp, start + op.latency, false);
}

// Its sums are there when it has been waited for.
void Engine::multiply(Op const& op, Warp& warp, unsigned scheduler, Ticks t) {
  Ticks gap = op.gap, latency = op.latency;
  if (Event const* const e = event(op, warp)) {
    gap = std::max<Ticks>(1, std::llround(static_cast<double>(e->count) * op.ticks_per_flop));
    latency = std::max(latency, gap);
  }
  Ticks const done = admit(admission(op.unit, op.per_scheduler ? scheduler : 0), t, gap) + latency;
  busy(op.unit) += op.per_scheduler ? gap : gap * parts_;
  under_way(warp, op.queue).add(done);
  complete(op, warp, done, false);
}

// Each level in turn: a request that misses goes on to the next when the level before has admitted it.
void Engine::access(Op const& op, Warp& warp, Ticks t) {
  Requests const& r = warp.requests[op.item];
  Ticks start = t, done = t;
  auto const visit = [&](Unit unit, Ticks requests, Ticks gap, Ticks latency) {
    start = admit(admission(unit, 0), start, requests * gap);
    busy(unit) += requests * gap * parts_;
    done = std::max(done, op.waits ? start + latency + (requests - 1) * gap : start + requests * gap);
  };
  if (r.shared) {
    visit(Unit::shared, r.shared, op.gap, op.latency);
    start = t;
  }
  Ticks const read = done;
  if (r.l1) {
    // What the first level does not have is complete when the levels below are.
    visit(Unit::l1, r.l1, l1_gap_, l1_latency_);
    out_.l1_lines += r.l1;
  }
  if (r.l2) {
    visit(Unit::l2, r.l2, op.atomic ? atomic_gap_ : l2_gap_, op.atomic ? atomic_latency_ : l2_latency_);
    out_.l2_sectors += r.l2;
  }
  if (r.dram) {
    visit(Unit::dram, r.dram, dram_gap_, dram_latency_);
    out_.dram_sectors += r.dram;
  }
  if (op.queue != Queue::none) under_way(warp, op.queue).add(done);
  if (op.queue == Queue::bulk) under_way(warp, Queue::bulk_reads).add(read);
  if (op.signals)
    if (Event const* const e = event(op, warp)) signal(warp, *e, stamp(done, true));
  if (op.waits && machine_.issuing.waits) {
    Ticks& last = r.l1 || r.l2 || r.dram ? warp.loaded : warp.loaded_shared;
    done = last = std::max(last, done);
  }
  complete(op, warp, done, true);
}

void Engine::complete(Op const& op, Warp& warp, Ticks done, bool memory) {
  done_ = done;
  out_.end = std::max(out_.end, done);
  Stamp const s = stamp(done, memory);
  std::uint16_t const* slot = code_.operands.data() + op.operands + op.sources;
  for (unsigned d = 0; d < op.destinations; ++d) {
    Stamp& there = warp.slots[slot[d] & ~fresh_slot];
    there = slot[d] & fresh_slot ? s : std::max(there, s);
  }
}

Outcome Engine::run() {
  while (living_ > 0) {
    unsigned first = 0;
    Ticks earliest = slots_[0].next;
    for (unsigned s = 1; s < parts_; ++s) {
      Ticks const next = slots_[s].next;
      first = next < earliest ? s : first;
      earliest = next < earliest ? next : earliest;
    }
    if (earliest == never_ticks) refuse_order();
    issue(first);
  }
  for (std::size_t u = 0; u < unit_count; ++u) out_.busy[u] = busy_[u] / parts_;
  return out_;
}

Outcome emulate(Machine const& machine, Code const& code, std::vector<Group const*> const& resident,
                Setting const& setting) {
  if (resident.empty()) return {};
  return Engine(machine, code, resident, setting).run();
}

}  // namespace kernelcast::model::ake
