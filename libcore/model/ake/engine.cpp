#include "model/ake/engine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "diag/diag.hpp"

namespace kernelcast::model::ake {

namespace {

// A time with what it is the time of: twice the ticks, plus one where data from memory arrive. The later of two wins.
using Stamp = std::int64_t;

constexpr Stamp stamp(Ticks t, bool memory) {
  return 2 * t + (memory ? 1 : 0);
}
constexpr Ticks ticks_of(Stamp s) {
  return s >> 1;
}

struct Warp {
  Op const* op = nullptr;
  Op const* end = nullptr;  // of the block
  Row const* row = nullptr;
  Row const* last_row = nullptr;  // one behind
  Requests const* requests = nullptr;
  Stamp* slots = nullptr;
  Ticks started = 0, issued = 0;
  std::uint32_t place = 0, number = 0;  // of its group, in its group
  Ticks loaded = 0, loaded_shared = 0;  // machines that wait for loads: when the last one is complete
  std::uint16_t scheduler = 0;
  bool from_barrier = false;   // what it waits for is a release
  std::uint8_t waits = going;  // for ever, until another wavefront changes that: one of these, or named + a barrier

  static constexpr std::uint8_t going = 0, at_barrier = 1, at_phase = 2, named = 3;
};

// When a wavefront's asynchronous operations of a queue are complete: those not yet in a group, and for each of the
// last groups all up to it.
struct UnderWay {
  static constexpr std::size_t most = 8;
  Ticks open = 0;
  std::array<Ticks, most> groups{};
  std::size_t last = 0;

  void add(Ticks done) { open = std::max(open, done); }
  void commit() {
    Ticks const all = std::max(open, groups[last]);
    last = (last + 1) % most;
    groups[last] = all;
    open = 0;
  }
  // All groups but the last `pending`; 0: also what is in none.
  Ticks complete(std::size_t pending) const {
    if (pending == 0) return std::max(open, groups[last]);
    return pending < most ? groups[(last + most - pending) % most] : groups[(last + 1) % most];
  }
};

// A scheduler's wavefronts, oldest first, and when each can issue.
struct Slot {
  Ticks next = std::numeric_limits<Ticks>::max();
  std::size_t pick = none;
  Ticks free = 0;
  std::size_t last = none;  // the wavefront that issued last
  std::vector<Ticks> ready;
  std::vector<Stamp> cause;
  std::vector<std::uint32_t> warp;
  std::size_t group = 0;                          // two_level: the active part
  std::array<Ticks, issue_kind_count> free_of{};  // machines that issue by kind: when another of it may
  Ticks last_issue = -1;

  static constexpr std::size_t none = static_cast<std::size_t>(-1);
};

// A barrier's wavefronts that have arrived since it opened last.
struct Arrived {
  std::uint32_t count = 0;
  Ticks last = 0;

  void add(Ticks t) {
    ++count;
    last = std::max(last, t);
  }
};

struct Place {
  Group const* group = nullptr;
  std::uint32_t running = 0;
  Arrived arrived;
  std::uint32_t first_warp = 0;  // of warps_
  std::array<Arrived, barriers_of_group> named;
  std::vector<std::vector<Stamp>> objects;  // [mbarrier][n]: when the first n + 1 arrivals are complete
  std::uint32_t at_phases = 0;              // wavefronts that wait for ever at one
};

class Engine {
 public:
  Engine(Machine const& machine, Code const& code, std::vector<Group const*> const& resident, Setting const& setting);
  Outcome run();

 private:
  static constexpr Ticks never_ticks = std::numeric_limits<Ticks>::max();

  void start_group(std::size_t place, Group const*, Ticks when);
  void select(Slot&);
  void select_greedy(Slot&);
  void select_by_kind(Slot&);
  std::size_t pick_in_turn(Slot const&, Ticks t) const;
  std::size_t pick_two_level(Slot&, Ticks t) const;
  void issue(unsigned scheduler);
  void execute(Op const&, Warp&, unsigned scheduler, Ticks t);
  void access(Op const&, Warp&, Ticks t);
  void complete(Op const&, Warp&, Ticks done, bool memory);
  bool advance(Warp&);  // to the next op that takes a turn; false at the end
  void fold(Op const&, Warp&) const;
  void wait_for_operands(Slot&, std::size_t index, Warp&, Ticks not_before);
  void multiply(Op const&, Warp&, unsigned scheduler, Ticks t);
  void arrive(Slot&, std::size_t index, Warp&, Op const&);
  void release(std::size_t place, Arrived&, std::uint8_t waiting);
  void signal(Warp const&, Event const&, Stamp);
  void finish(unsigned scheduler, std::size_t index, Ticks t);
  [[noreturn]] void refuse_order() const;
  UnderWay& under_way(Warp const& warp, Queue queue) {
    return under_way_[static_cast<std::size_t>(&warp - warps_.data()) * queue_count + static_cast<std::size_t>(queue)];
  }
  Group const& group(Warp const& warp) const { return *places_[warp.place].group; }
  Event const* event(Op const& op, Warp const& warp) const {
    return op.item == no_item ? nullptr : group(warp).event(warp.requests[op.item]);
  }
  Ticks admit(Ticks& admission, Ticks t, Ticks gap) {
    Ticks const start = std::max(t, admission);
    admission = start + gap;
    return start;
  }
  Ticks& admission(Unit u, unsigned part) { return admit_[static_cast<std::size_t>(u) * parts_ + part]; }
  Ticks& busy(Unit u) { return busy_[static_cast<std::size_t>(u)]; }

  Machine const& machine_;
  Code const& code_;
  std::vector<Group const*> const& resident_;
  Setting const& setting_;
  unsigned const parts_;
  Ticks l1_gap_, l2_gap_, dram_gap_, l1_latency_, l2_latency_, dram_latency_, atomic_latency_, atomic_gap_;
  std::vector<Warp> warps_;
  std::vector<UnderWay> under_way_;  // by wavefront and queue, where the code has any
  std::vector<Stamp> registers_;
  std::vector<Slot> slots_;
  std::vector<Place> places_;
  std::vector<Ticks> admit_;
  std::array<Ticks, unit_count> busy_{};
  std::uint64_t started_ = 0;
  std::size_t living_ = 0;
  Ticks done_ = 0;  // when the last executed operation is complete
  Outcome out_;
};

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

// ---------------------------------------------------------------- which wavefront is next

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

}  // namespace

Outcome emulate(Machine const& machine, Code const& code, std::vector<Group const*> const& resident,
                Setting const& setting) {
  if (resident.empty()) return {};
  return Engine(machine, code, resident, setting).run();
}

}  // namespace kernelcast::model::ake
