// What a few groups, in the middle of the grid where it is like the others, say of all: how much distinct memory a
// launch touches, and what one group asks of a compute unit.
//
// Problem: a record extrapolated from one group must not count memory that groups share (a matrix that all of them
// read) once for each group; and by how much it is shared shows only in more than one group.
// Method: a group in the middle of the grid and its next neighbours along each axis (three, six or eleven groups) are
// emulated once more, and what more groups touch together follows from them (group_union.hpp). The group in the middle
// is profiled besides. Where the middle has no work, or much more than others, another group takes its place.
// Limits: the whole grid is taken to be like these groups. The groups run on memory as the launches left it, with the
// arguments of the configuration's first launch; where they do not end well there is no estimate.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "emulator/emu.hpp"
#include "emulator/launch/group_union.hpp"
#include "emulator/observe/group_profile.hpp"
#include "emulator/observe/kernel_counters.hpp"
#include "records/kernel.hpp"

namespace kernelcast::launch {

// Groups with more warp instructions together are not run again for this: some 0.2 s; the one in the middle, without
// which little is known, as long as it can be profiled: a second of arithmetic, ten of loads.
inline constexpr std::uint64_t max_instructions_for_footprint = 24000000;
inline constexpr auto max_instructions_for_middle = static_cast<std::uint64_t>(emu::max_profiled_slots);

// In the middle of each axis; where groups share lines or sectors with a neighbour, the next one has the other part.
std::uint64_t middle_group(emu::Dim3 grid);

// Along each axis there is a next group: then it can be sampled.
bool has_next_neighbours(emu::Dim3 grid, std::uint64_t group);

// How near groups that were counted (linear, ascending) are to the group that an instruction, a transaction or a pass
// is in on average: each of its counters (KernelObserver::counts_of) is sum(n^2) / sum(n).
class Likeness {
 public:
  Likeness(emu::Dim3 grid, std::span<std::uint64_t const> counted, emu::KernelObserver const&);
  // Each counter of the group in the middle, or of the counted one next to it, is at least half and at most twice that.
  bool middle_is_typical() const;
  // As a power of 2; infinite where the group cannot be sampled. Along x one that shares no lines
  // with it counts as much as a factor of 2.
  double distance(std::uint64_t group) const;

 private:
  double apart(std::uint64_t group) const;

  emu::Dim3 grid_;
  std::span<std::uint64_t const> counted_;
  emu::KernelObserver const& counts_;
  std::array<double, 4> sum_{}, squares_{};
};

// The group to look at, of those that were counted: the one in the middle where it is typical, else the nearest.
std::uint64_t typical_group(emu::Dim3 grid, std::span<std::uint64_t const> counted, emu::KernelObserver const&);

struct FootprintGrowth {
  double factor = 1;               // distinct bytes of all groups over those of the emulated ones
  std::uint64_t middle = 0;        // the group in the middle, linear
  std::uint64_t middle_bytes = 0;  // what it touches
};

// Which groups of a grid are in the sample, an observer for them, and what it then says.
class GroupSample {
 public:
  GroupSample(emu::Program const& program, emu::Dim3 grid) : GroupSample(program, grid, middle_group(grid)) {}
  // Around this group, which has a next neighbour along each axis, instead of the one in the middle.
  GroupSample(emu::Program const&, emu::Dim3 grid, std::uint64_t group);
  GroupSample(GroupSample const&) = delete;
  std::vector<std::uint64_t> const& groups() const { return groups_; }  // linear, ascending
  emu::Observer& observer() { return observer_; }
  // The group in the middle alone: there is no growth then.
  void leave_out_neighbours();
  bool has_neighbours() const { return !observer_.gave_up() && (axes_ == 0 || groups_.size() > 1); }

  // `emulated`: linear, ascending, at least one. `memory`: that of the launch.
  FootprintGrowth growth(std::span<std::uint64_t const> emulated, emu::Memory const& memory) const;
  void fill(record::GroupColumns&, emu::Memory const&) const;  // nothing where the group has not ended
  std::uint64_t group() const { return middle_; }              // that is profiled
  double slots() const;                                        // of the profiled group; 0 where it has not ended

 private:
  // What is touched by set of axes: sectors of 32 bytes, or lines of 128.
  enum class Of : std::uint8_t { loads, stores, both, updates };
  enum class In : std::uint8_t { sectors, lines };
  ByAxes parts(Of, In = In::sectors) const;
  void add(emu::Footprint& sum, Of, std::uint64_t group) const;
  GroupUnion of_groups(Of, emu::Memory const&) const;

  emu::Dim3 grid_;
  Axes axes_ = 0;  // those longer than one group
  std::uint64_t middle_ = 0;
  std::array<std::uint64_t, all_axes + 1> corner_{};    // by set of axes along which the neighbour is taken
  std::array<std::optional<std::uint64_t>, 3> before_;  // by axis, the neighbour on the other side
  std::vector<std::uint64_t> groups_;
  emu::ProfileObserver observer_;
};

// What of a sample is worth to be run; `per_group`: warp instructions.
enum class Worth : std::uint8_t { nothing, middle, all };
Worth worth_sampling(emu::Dim3 grid, std::uint64_t per_group);

// A launch that is run in parts: limits and outcome are of all of them together.
class PartedRun {
 public:
  PartedRun(emu::Program const&, emu::Launch const&, emu::Memory&, emu::Limits const&, unsigned threads);
  // Further groups; false where the launch has ended with them.
  bool run(std::span<std::uint64_t const> groups, std::span<emu::Observer* const>);
  // With the sample's observer besides, if there is one: where groups need not run together, for its groups alone.
  bool run(std::span<std::uint64_t const> groups, std::span<emu::Observer* const>, GroupSample*);
  emu::Outcome const& outcome() const { return outcome_; }

 private:
  emu::Program const& program_;
  emu::Launch const& launch_;
  emu::Memory& memory_;
  emu::Limits limits_;
  unsigned threads_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  emu::Outcome outcome_;
};

// Runs a sample. False where it did not end well. Writes to `memory`. `max_steps` bounds the warp instructions.
bool run_sample(GroupSample&, emu::Program const&, emu::Launch, emu::Memory& memory, std::uint64_t max_steps,
                bool goes_on = false);

}  // namespace kernelcast::launch
