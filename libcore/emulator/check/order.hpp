// Which accesses of a launch come before which, whatever the schedule.
//
// Problem: barriers, warp barriers and fence-and-atomic pairs order accesses of one group; a full order of vector
// clocks over 1024 work-items would cost far more than the emulation. Barriers of OpenCL C may order accesses to shared
// or to global memory alone: then each of the two has an order of its own.
// Method: one clock for the launch ticks at everything that orders. An access is stamped with the clock; a warp keeps,
// for each warp of its group, the time up to which that warp's accesses come before its own next ones. After a barrier
// of the whole group all of this is one number, the floor.
// Limits: what orders a lane is taken to order its warp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "emulator/check/facts.hpp"

namespace kernelcast::emu {

class Order {
 public:
  using Time = std::uint32_t;
  static constexpr std::uint32_t max_warps = 32;

  // Of accesses to `space`: orders_shared, orders_global or both. The clock goes on at `now` at least.
  void begin_launch(Facts const&, std::uint8_t space, Time now);
  void begin_group(std::uint64_t group);
  void enter_block(std::uint32_t block, Lanes const&);
  // Brings the warps up to an instruction: the synchronising ones before it in its block.
  void reach(std::uint32_t instruction, Lanes const& lanes) {
    if (facts_->any_points) catch_up(facts_->sites[instruction].points_before, lanes);
  }
  void meet(Meeting const&);
  // At a barrier that does not order such accesses, only what a warp did before a fence of its own is handed on; and,
  // where it orders others, loads: their values were used before, as a rule in what it orders.
  void meet_unordered(Meeting const&, bool orders_loads, std::uint32_t instruction);
  // An atomic (or the like) of one lane: it sees what earlier ones of other lanes at this address released, and
  // releases what its warp did before its last fence.
  void strong_access(std::uint32_t warp, std::uint64_t address, bool global, Facts::Site const&);
  // Lanes in step: called before each access.
  void step() { step_start_ = ++now_; }

  Time now() const { return now_; }
  Time floor() const { return floor_; }  // accesses of the group before it are ordered before all
  Time read_floor() const { return std::max(floor_, read_floor_); }  // loads before it come before all stores
  Time group_start() const { return group_start_; }                  // stamps from here on are this group's
  Time launch_start() const { return launch_start_; }
  bool plain() const { return plain_; }  // the floor says it all
  // An access of `other` warp of this group at `then`: does it come before the next one of `warp`?
  bool before(std::uint32_t other, Time then, std::uint32_t warp, bool lockstep) const {
    if (then < floor_ || then < seen_[warp][other]) return true;
    return lockstep && warp == other && then < step_start_;
  }
  // May a record that is as old as `then` or older be judged by `then`? Not where something finer than a barrier of the
  // whole group may have come in between.
  bool exact(std::uint32_t other, std::uint32_t warp, bool lockstep) const {
    if (plain_) return !lockstep || other != warp;
    return !partial_ && (other != warp || (seen_[warp][warp] <= floor_ && !lockstep));
  }
  // An access of an earlier group: is it ordered before this group's next ones?
  bool group_before(Time then) const;
  std::uint64_t group_at(Time then) const;
  void rewind();  // the clock begins anew: stamps before are to be forgotten

  // The latest of what two warps have passed since `then` that does not order their accesses, for messages.
  struct Passed {
    Time time = 0;
    std::uint32_t instruction = 0;
  };
  Passed passed_barrier(std::uint32_t warp, std::uint32_t other, Time then) const {
    return latest(unordered_[warp], unordered_[other], then);
  }
  Passed passed_fence(std::uint32_t warp, std::uint32_t other, Time then) const {
    return latest(plain_fence_[warp], plain_fence_[other], then);
  }

 private:
  static Passed latest(Passed const& a, Passed const& b, Time then) {
    Passed const& last = a.time < b.time ? b : a;
    return last.time > then ? last : Passed{};
  }
  void catch_up(std::uint32_t count, Lanes const&);
  void apply(Facts::Point const&, std::uint32_t warp);
  using Row = std::array<Time, max_warps>;

  Facts const* facts_ = nullptr;
  std::uint8_t space_ = orders_all;
  Time now_ = 0, floor_ = 0, read_floor_ = 0, group_start_ = 0, launch_start_ = 0, step_start_ = 0;
  bool plain_ = true;
  bool partial_ = false;  // since the floor, some warps but not all have been ordered with each other
  std::array<Row, max_warps> seen_{};
  Row fenced_{};                                               // time of each warp's last fence
  std::array<Passed, max_warps> unordered_{}, plain_fence_{};  // by each warp, the last
  std::array<std::uint32_t, max_warps> block_{}, applied_{};
  std::unordered_map<std::uint64_t, Row> released_;  // by address
  std::uint64_t group_ = 0;
  std::vector<std::pair<Time, std::uint64_t>> groups_;   // when each began
  std::unordered_map<std::uint64_t, Time> released_by_;  // groups: what they did before this time
  bool acquired_ = false;                                // the group has seen what earlier groups released
};

}  // namespace kernelcast::emu
