// One run of the engine: what wavefronts, schedulers and resident groups are at. Internal to engine*.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "models/ake/engine.hpp"

namespace kernelcast::model::ake {

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

}  // namespace kernelcast::model::ake
