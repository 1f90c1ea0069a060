// Which groups of a launch are emulated by default (--groups spread), and when they are enough.
//
// Problem: one group says nothing of the others: borders return at once, triangular loops grow with the group's number.
// All groups take too long.
// Method: the group in the middle of the grid first, then groups of a low-discrepancy sequence over the grid's axes
// (multiples of the powers of 1/g, g the root of g^(d+1) = g + 1 for d axes [roberts]; no period of the grid hides from
// it). Each comes with its reflection through the middle of the grid, so that what grows linearly along an axis has the
// right mean, whatever the number of groups. The pairs' means are the sample: their standard error over their mean,
// with the correction for a finite grid, is the sampling error. Rounds double the groups
//   - until the sampling error is at most 2 %, with 8 groups or more; while groups cost next to nothing, with 256,
//   - or until all groups have run: where that costs no more than 1 M warp instructions, and where the next round would
//     take more than half of the grid (so grids below 16 groups run whole),
//   - or until they have executed 64 M warp instructions (some 0.5 s), with 4 groups or more; or are 32768.
// The instructions are those of all launches of a run together: a launch has its share of them. Groups that may wait
// for each other (Program::order_dependent) cannot be taken from anywhere: of them the first run, in order, twice as
// many each time until they are 16 or have executed 64 M warp instructions, and all where that costs next to nothing.
// Limits: what only few groups of the grid do may be missed, then by the sampling error, too. Groups are chosen by the
// configuration's first launch; its further launches run the same ones, and the sampling error is that of all launches.
//
// [roberts] M. Roberts, The unreasonable effectiveness of quasirandom sequences, 2018.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "emulator/emu.hpp"
#include "emulator/observe/kernel_counters.hpp"

namespace kernelcast::launch {

inline constexpr double spread_error_pct = 2;
inline constexpr std::uint64_t spread_least_groups = 8, spread_cheap_groups = 256, spread_most_groups = 32768;
inline constexpr std::uint64_t spread_ordered_groups = 16;
inline constexpr std::uint64_t spread_cheap_instructions = 1000000, spread_most_instructions = 64000000;

class Spread {
 public:
  // `in_order`: groups may wait for each other. `launches`: how many share the instructions, at least 1.
  Spread(emu::Dim3 grid, bool in_order, std::uint64_t launches = 1);

  // The groups to run next, ascending; none where those so far are enough. `counted` has seen all of these.
  std::vector<std::uint64_t> next(emu::KernelObserver const& counted);
  // So many groups at once, or all where there are no more; for launches of which all groups run anyway.
  std::vector<std::uint64_t> take(std::uint64_t groups);

  std::vector<std::uint64_t> groups() const;  // all so far, ascending
  // The standard error of a total over the total, in percent, of that of the four counters of
  // KernelObserver::spread_pct() that has the largest. 0 where all groups were taken; nothing where the groups are the
  // first of the grid.
  std::optional<double> error_pct(emu::KernelObserver const& counted) const;

 private:
  std::uint64_t reflected(std::uint64_t group) const;
  std::uint64_t next_of_sequence();
  bool add(std::uint64_t group);
  std::vector<std::uint64_t> take_rest();
  bool enough(emu::KernelObserver const& counted, double instructions) const;

  emu::Dim3 grid_;
  std::uint64_t total_, launches_;
  bool in_order_;
  std::array<std::uint64_t, 3> state_{}, step_{};  // by axis: of the sequence, as fractions of 2^64
  std::vector<std::uint64_t> taken_;               // in the order of the sequence, a group and its reflection together
  std::unordered_set<std::uint64_t> known_;
};

}  // namespace kernelcast::launch
