// The barriers of a group: who has arrived, and when they open. Internal to emu.
//
// Barriers open when none of the group's work-items can go on, or, where lanes only spin, when a barrier's count is
// reached; so a barrier opens once for all that wait there, and counts do not depend on the order of arrival.
// bar.warp.sync waits, as independent lanes do since Volta, until all lanes of its mask that have not left wait at some
// bar.warp.sync, not necessarily the same. The wait of a cluster is a
// barrier of the group of its own, which other groups of the cluster hold.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "emulator/emu.hpp"
#include "emulator/machine/unit.hpp"

namespace kernelcast::emu {

class Barriers {
 public:
  // 16 that programs name, and two that wait in other ways.
  static constexpr std::uint32_t cluster = 16, warp = 17, count = 18;

  void begin();  // of a group
  // bar.arrive: these lanes do not wait.
  void arrive(std::uint32_t barrier, Unit const&, Bits const&);

  struct Group {
    std::vector<Unit>& units;
    std::uint32_t threads, group_lanes;  // group_lanes: of each of several groups in a unit; 0: one group
    std::uint64_t syncs;                 // Context::syncs
    std::span<Observer* const> observers;
    bool holds_cluster = false;  // other groups of the cluster have not arrived at its barrier
  };
  // Whether a barrier has as many arrivals as those that wait there count.
  bool counted_complete(std::span<Unit const> units) const;
  enum class Released : std::uint8_t { none, some, stuck, held };
  // Opens the barriers that are complete; while lanes run elsewhere, only those that count. Stuck: no work-item can go
  // on. Held: all wait for other groups of the cluster.
  Released release(Group const&, bool running);
  // Lets the lanes go whose masks name only lanes that wait like them, or that have left.
  static bool open_warp_barriers(Unit&, std::uint64_t syncs);

 private:
  void notify_meeting(Group const&, std::uint32_t barrier, bool everyone);
  static void finish_reduction(Group const&, std::uint32_t barrier);

  std::array<std::uint32_t, count> arrived_{};
  std::array<std::array<std::uint32_t, 32>, count> arrived_lanes_{};  // [warp of the group], since it opened last
  bool arrivals_ = false;                                             // has anyone called bar.arrive?
};

}  // namespace kernelcast::emu
