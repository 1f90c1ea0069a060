// From the traced addresses to the requests that each level of a machine's memory gets.
//
// Problem: the engine needs, for every access, how many lines the first-level cache looks up and how many sectors go on
// to the second level and to device memory.
// Method, by mode:
//   none       every sector comes from device memory: the second data set of [ake] Figure 2
//   given      hit rates, as [ake] has them from a profiler; spread over the accesses by carrying the fraction over
//   simulated  set-associative caches fed with the traced groups' accesses, all wavefronts of the resident groups
//   taking
//              turns block by block. Groups beyond those of one compute unit run on further units that share the second
//              level. What one group alone touches competes for this unit's part of it, as the groups of all other
//              units do the like with theirs; lines that several groups touch have the whole.
// The order of the simulation is that of taking turns, not the schedule that follows: hits are a property of the trace
// and the machine, and a copy of a group has the hits of the original.
// At the start of a launch the second level is empty; `warm`: it has what an earlier run of the same launch left, when
// all groups together touch no more lines than it holds (else the least recently used are those that come next).
// Limits: nothing passes from one launch to the next; writes are charged to device memory when a sector first becomes
// dirty. What groups that are not traced touch is taken to be as much as the traced ones do, line for line of their
// own.
#pragma once

#include <cstdint>
#include <vector>

#include "models/ake/code.hpp"
#include "models/ake/launch.hpp"

namespace kernelcast::model::ake {

struct MemoryMode {
  enum class Kind : std::uint8_t { none, given, simulated } kind = Kind::simulated;
  double l1_hit = 0, l2_hit = 0;  // given
  bool warm = false;              // simulated: the second level has what the same launch left there before
};

struct Prepared {
  std::vector<Group> groups;   // at most `resident`
  double footprint_bytes = 0;  // warm: of all groups, by the traced ones
  bool stays_warm = false;
  std::uint64_t l1_sectors = 0, l1_hits = 0, l2_sectors = 0, l2_hits = 0;  // of loads, in the groups above
  // Global atomics of all groups, by the traced ones: updates of the busiest address, sectors of all requests. What
  // most traced groups update all groups do; what few do has no others.
  double atomic_same_address = 0, atomic_sectors = 0;
};

// `resident` groups share a compute unit, `active_units` of them the second level.
Prepared prepare(Launch const&, Machine const&, MemoryMode const&, std::size_t resident, double active_units);

}  // namespace kernelcast::model::ake
