// Data races between the work-items of a launch; see check.hpp for the rules, order.hpp and cells.hpp for the method.
#pragma once

#include <map>

#include "emulator/check/cells.hpp"
#include "emulator/check/order.hpp"
#include "emulator/check/report.hpp"
#include "emulator/check/shadow.hpp"

namespace kernelcast::emu {

class RaceCheck {
 public:
  RaceCheck(Memory const& memory, Reporter& reporter, bool lockstep)
      : memory_(memory), reporter_(reporter), lockstep_(lockstep) {}

  void begin(Facts const&);
  void begin_group(std::uint64_t group);
  // A group of a cluster: how others than it are ordered is not known, and taken for granted.
  void follow_cluster() { in_cluster_ = true; }
  // Groups side by side, in an observer that is a stand-in: in global memory nothing orders them, or their work-items.
  void begin_pack(std::uint64_t first_group);
  void enter_block(std::uint32_t block, Lanes const& lanes) {
    for_orders([&](Order& order) { order.enter_block(block, lanes); });
  }
  void reach(std::uint32_t instruction, Lanes const& lanes) {
    for_orders([&](Order& order) { order.reach(instruction, lanes); });
  }
  // At a barrier with these flags (facts.hpp), of which one instruction is `instruction`.
  void meet(Meeting const&, std::uint8_t orders, std::uint32_t instruction);
  void access(MemoryAccess const&);

 private:
  // The shadow of one buffer, or of the shared memory.
  struct Shadow {
    std::uint64_t bytes = 0;
    unsigned cell_shift = 4;
    ShadowBytes written, read;
    Order::Time latest_write = 0, latest_read = 0;
    Record* writes() const { return written.as<Record>(); }
    Record* reads() const { return read.as<Record>(); }
  };
  struct Place;  // what one access is about

  Shadow& shadow_of(std::uint64_t region, std::uint64_t bytes, bool global);
  static void resize(Shadow&, std::uint64_t bytes, unsigned cell_shift);
  void forget();

  // Where the lanes of logged reads are; see MemoryAccess.
  struct Pattern {
    std::uint64_t number;
    std::uint32_t first_warp, warps;
    std::uint32_t offsets[max_lanes_per_unit], steps[2 * max_warps_per_unit], masks[max_warps_per_unit];
  };
  struct LoggedRead {
    Record stamp;
    std::uint64_t base;
    std::uint32_t instruction, pattern;
    std::uint8_t bytes_per_lane;
  };
  void log(MemoryAccess const&, Record stamp);
  void replay();
  void forget_log() {
    log_.clear();
    patterns_.clear();
  }

  void regular(Place const&, Shadow&);
  void spread(Place const&, Shadow&, std::uint32_t first, std::uint32_t mask, bool unread, bool unwritten);
  void lane_by_lane(Place const&, Shadow&, std::uint32_t first, std::uint32_t mask);
  void touch(Place const&, Shadow&, std::uint32_t lane, std::uint64_t offset);
  void same_place(Place const&, Shadow&, std::uint32_t lane, std::uint64_t offset);
  void judge(Place const&, Record, std::uint32_t lane, bool recorded_write);
  bool same_copy(Place const&, Record, std::uint32_t item, std::uint32_t lane) const;
  bool same_value(Place const&, Record, std::uint32_t item, std::uint32_t lane) const;
  std::string reason(bool global, std::uint32_t item, std::uint32_t other, Order::Time then, std::string& hint) const;
  Bounds bounds(bool global) const;
  // One order for all memory, unless some barrier orders a part of it.
  Order& order_of(bool global) { return orders_[global && facts_->any_partial]; }
  Order const& order_of(bool global) const { return orders_[global && facts_->any_partial]; }
  template <class F>
  void for_orders(F f) {
    f(orders_[0]);
    if (facts_->any_partial) f(orders_[1]);
  }

  Memory const& memory_;
  Reporter& reporter_;
  bool lockstep_;
  bool side_by_side_ = false;
  bool in_cluster_ = false;
  Facts const* facts_ = nullptr;
  CellLoops const* loops_ = nullptr;
  Order orders_[2];  // of shared memory or of all; of global memory
  Shadow shared_;
  std::vector<LoggedRead> log_;  // of shared memory, since the last barrier
  std::vector<Pattern> patterns_;
  std::map<std::uint64_t, Shadow> global_;  // by buffer address
  std::uint64_t last_region_ = 0;
  Shadow* last_shadow_ = nullptr;
};

}  // namespace kernelcast::emu
