// The emulation of a compute unit by latencies and gaps [ake].
//
// Problem: how long does a compute unit take for the wavefronts of its resident work-groups, and what do they wait for?
// Method: [ake] section 2. Every unit admits one request per gap; a wavefront issues in order, when the results that it
// reads are complete:
//   issue = max(scheduler free, operands complete, barrier released)
//   start = max(issue, admit[unit]);  admit[unit] = start + gap;  done = start + latency
// Issue never waits for a unit. Events are processed in order of time, schedulers of equal time in order of their
// number; nothing is stepped cycle by cycle. A global access visits the levels of the memory in turn, each with its own
// admit time; n requests of a level are admitted one gap apart. Stores keep units busy and no wavefront waits for them.
// A barrier releases the group when its last wavefront that still runs has arrived, after the barrier's latency.
// Where the machine issues by kind (devdb/issue.csv), a scheduler issues one instruction of each kind a turn, each of
// another wavefront, the oldest that can. Vector instructions then wait for their unit, loads of a wavefront complete
// in the order of their issue, and a branch that is taken holds its wavefront for the branch's latency. Greedy then
// oldest: the wavefront that issued last if it is ready, else the oldest by (start of its group, number of the group's
// slot, number in the group). Limits: registers are read at issue, so that only true dependences wait; a guarded write
// counts as a whole one.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "models/ake/code.hpp"

namespace kernelcast::model::ake {

enum class Scheduler : std::uint8_t { gto, rr, two_level };  // of machines that do not issue by kind

// What a wavefront waited for before it issued.
enum class Stall : std::uint8_t { dependency, memory, barrier, issue };
inline constexpr std::size_t stall_count = 4;

// One issue, for a timeline. Times in ticks.
struct Issue {
  std::size_t slot = 0, warp = 0;  // resident place of the group, wavefront in it
  std::uint64_t group = 0;         // number of the traced group
  std::uint32_t block = 0, pc = 0;
  Unit unit = Unit::none;
  Ticks from = 0;  // the wavefront's last issue, or its start
  Ticks issue = 0, done = 0;
  Stall stall = Stall::issue;
};

struct Setting {
  Scheduler scheduler = Scheduler::gto;
  bool dual_issue = false;    // a second instruction of the same wavefront in the same slot, to another unit
  unsigned active_warps = 8;  // of a scheduler, with two_level
  double active_units = 0;    // compute units that share the second level and device memory; 0: all
  Ticks launch_ticks = 0;     // before a group that replaces a finished one may issue
  std::uint64_t groups = 0;   // to run in all: more than fit replace those that finish; 0: those given, once
  std::function<void(Issue const&)> observe;
};

struct Outcome {
  Ticks end = 0;         // when the last instruction is complete
  Ticks last_issue = 0;  // what follows is waiting for data under way
  std::uint64_t instructions = 0;
  std::array<Ticks, unit_count> busy{};    // of each unit, mean of its parts; [0] of the schedulers' slots
  std::array<Ticks, stall_count> stall{};  // summed over wavefronts
  Ticks warp_ticks = 0;                    // summed lives of all wavefronts, to compare with
  std::uint64_t l1_lines = 0, l2_sectors = 0, dram_sectors = 0;
};

// Runs `resident` groups (places 0, 1, …) on one compute unit. With setting.groups above their number, the k-th group
// started is a copy of the one at k modulo their number.
Outcome emulate(Machine const&, Code const&, std::vector<Group const*> const& resident, Setting const&);

}  // namespace kernelcast::model::ake
