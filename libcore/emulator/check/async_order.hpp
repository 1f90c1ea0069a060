// What comes before what among the warps of a group and its asynchronous operations, whatever the schedule.
//
// Problem: a product may read what a copy writes only after the mbarrier's phase that counts the copy was waited for,
// and a generic store comes before it only with a proxy fence between them. The race check's clock (order.hpp), for
// which any mbarrier orders the whole group, does not tell.
// Method: vector clocks. Each warp has a row: for each other warp the time up to which its accesses come before the
// warp's own next ones, and up to which they are also fenced for the asynchronous proxy; for each mbarrier how many of
// its phases, and for each warp how many groups of its copies and products, are known to be complete. Arriving at an
// mbarrier adds the row to the phase's, and so does the end of a copy with the row of the work-item that issued it; who
// finds the phase complete takes that over. Barriers and atomics do likewise.
// [ptx] "Causality order": a proxy fence counts wherever it lies on the path.
// In a cluster arrivals of other groups are known by the mbarrier's count of pending ones, which then differs from what
// the group's own leave.
// Limits: what orders a lane orders its warp. A product of wgmma belongs to its group of four warps, any of which may
// wait for it. Atomics and the like order whatever their semantics are. Mbarriers beyond the 64th count as waited for.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "emulator/emu.hpp"

namespace kernelcast::emu {

class AsyncOrder {
 public:
  using Time = std::uint32_t;
  static constexpr std::uint32_t max_warps = 32, max_barriers = 64;
  // What a row has a time or a count of.
  enum Entry : std::uint16_t {
    seen = 0,                           // [warp] accesses before this time
    fenced = seen + max_warps,          // [warp] of those, the ones with a proxy fence after them
    staged = fenced + max_warps,        // [warp] groups of cp.async that are complete
    copies = staged + max_warps,        // [warp] bulk groups
    products = copies + max_warps,      // [group of four warps] wgmma groups
    tensor = products + max_warps / 4,  // [warp] tcgen05 operations, in the order in which it issued them
    loaded = tensor + max_warps,        // [warp] tcgen05.ld before this time
    stored = loaded + max_warps,        // [warp] tcgen05.st
    phases = stored + max_warps,        // [mbarrier] phases
    entries = phases + max_barriers,
    never,  // of an operation: no end is known
    done,   // of an operation: taken as complete
  };
  using Row = std::array<Time, entries>;

  // Other groups arrive, too, unheard: whoever finds such a phase complete has seen all that the group did.
  void follow_cluster() { in_cluster_ = true; }
  void begin_group();

  Time now() const { return now_; }
  Row const& row(std::uint32_t warp) const { return rows_[warp]; }
  // An access of `other` at `then`: does it come before the warp's next ones; is there a proxy fence on the way?
  bool before(std::uint32_t other, Time then, std::uint32_t warp) const {
    return other == warp || then < rows_[warp][seen + other];
  }
  bool is_fenced(std::uint32_t other, Time then, std::uint32_t warp) const {
    return then < rows_[warp][fenced + other];
  }
  // An operation that is complete once the entry exceeds the number.
  bool complete(std::uint16_t entry, Time number, std::uint32_t warp) const {
    return entry == done || (entry != never && number < rows_[warp][entry]);
  }

  void fence(std::uint32_t warp);
  void finish(Entry, std::uint32_t warp);  // loaded, stored: all until now
  void raise(std::uint16_t entry, Time count, std::uint32_t warp);
  void meet(Meeting const&);
  void atomic(std::uint32_t warp, std::uint64_t address, bool reads, bool writes);

  // Mbarriers by their offset in shared memory; `word` is what the object holds before the access, the same for all
  // work-items that take part in it.
  void next_access() {
    ++access_;
    tests_.clear();
  }
  struct Phase {
    std::uint16_t entry = done;
    Time number = 0;
  };
  Phase phase_of(std::uint64_t object, std::uint64_t word);
  void initialise(std::uint64_t object, std::uint32_t arrivals);  // or unknown_arrivals
  static constexpr std::uint32_t unknown_arrivals = ~std::uint32_t{0};
  void arrive(std::uint32_t warp, std::uint64_t object, std::uint64_t word, std::uint32_t arrivals);
  void promise(std::uint64_t object, std::uint64_t word, std::uint16_t entry, Time count);  // an operation's arrival
  void test(std::uint32_t warp, std::uint64_t object, std::uint64_t word);  // found complete if phase_met() follows
  void phase_met(Meeting const&);

 private:
  struct Barrier {
    std::uint16_t entry = done;
    std::uint32_t parity = 0;
    Time phase = 0;
    Row current{}, completed{};                // what arrived in this phase, and in those before
    std::uint32_t access = 0;                  // the latest
    std::uint32_t pending = unknown_arrivals;  // after it, if only this group's arrived
    bool any_arrived = false;                  // of this group, in this phase
    bool from_others = false;                  // others have arrived
  };
  Barrier& barrier_at(std::uint64_t object, std::uint64_t word);
  Time tick() { return ++now_; }

  bool in_cluster_ = false;
  std::uint32_t access_ = 0;
  Time now_ = 1;
  std::array<Row, max_warps> rows_{};
  std::unordered_map<std::uint64_t, Barrier> barriers_;
  std::uint32_t known_barriers_ = 0;
  struct Test {
    std::uint32_t warp;
    std::uint64_t object;
  };
  std::vector<Test> tests_;
  std::unordered_map<std::uint64_t, Row> released_;  // by atomics, by address
};

}  // namespace kernelcast::emu
