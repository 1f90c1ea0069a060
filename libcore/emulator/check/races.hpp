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
  void enter_block(std::uint32_t block, Lanes const& lanes) { order_.enter_block(block, lanes); }
  void meet(Meeting const&);
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
  Bounds bounds(bool global) const;

  Memory const& memory_;
  Reporter& reporter_;
  bool lockstep_;
  bool side_by_side_ = false;
  bool in_cluster_ = false;
  Facts const* facts_ = nullptr;
  CellLoops const* loops_ = nullptr;
  Order order_;
  Shadow shared_;
  std::vector<LoggedRead> log_;  // of shared memory, since the last barrier
  std::vector<Pattern> patterns_;
  std::map<std::uint64_t, Shadow> global_;  // by buffer address
  std::uint64_t last_region_ = 0;
  Shadow* last_shadow_ = nullptr;
};

}  // namespace kernelcast::emu
