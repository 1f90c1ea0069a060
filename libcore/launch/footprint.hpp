// How much distinct memory all groups of a launch touch, from a few of them.
//
// Problem: a record extrapolated from one group must not count memory that groups share (a matrix that all of them
// read) once for each group; and by how much it is shared shows only in more than one group.
// Method: what a group touches is split by what it depends on: nothing, the group's x alone, y alone, x and y, and so
// on. A group in the middle of the grid and its next neighbours along each axis (two, four or eight groups) are
// emulated once more, and the sizes of their unions give the parts by inclusion and exclusion. The part that depends
// on x and y, say, then grows with the different pairs (x, y).
// Limits: the parts are those of the middle of the grid. The groups run on memory as the launches left it, with the
// arguments of the configuration's first launch; where they do not end well there is no estimate.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "emu/emu.hpp"

namespace kernelcast::launch {

class GroupFootprints;

// Groups with more warp instructions together are not run again for this: some 20 ms.
inline constexpr std::uint64_t max_instructions_for_footprint = 8000000;

struct FootprintGrowth {
  double factor = 1;               // distinct bytes of all groups over those of the emulated ones
  std::uint64_t middle = 0;        // the group in the middle, linear
  std::uint64_t middle_bytes = 0;  // what it touches
};

// Which groups of a grid show the growth, an observer for them, and what it then says.
class FootprintSample {
 public:
  explicit FootprintSample(emu::Dim3 grid);
  ~FootprintSample();
  FootprintSample(FootprintSample const&) = delete;
  std::vector<std::uint64_t> const& groups() const { return groups_; }  // linear, ascending
  emu::Observer& observer();
  FootprintGrowth growth(std::span<std::uint64_t const> emulated) const;  // `emulated`: linear, at least one

 private:
  emu::Dim3 grid_;
  unsigned axes_ = 0;  // those longer than one group
  std::uint64_t middle_ = 0;
  std::array<std::uint64_t, 8> corner_{};  // by set of axes along which the neighbour is taken
  std::vector<std::uint64_t> groups_;
  std::unique_ptr<GroupFootprints> footprints_;
};

// True where the groups of a sample are worth to be run again; `per_group`: warp instructions.
bool worth_sampling(emu::Dim3 grid, std::uint64_t per_group);

// Runs such a sample. Writes to `memory`. `max_steps` bounds the warp instructions.
std::optional<FootprintGrowth> footprint_growth(emu::Program const&, emu::Launch, emu::Memory& memory,
                                                std::span<std::uint64_t const> emulated, std::uint64_t max_steps);

}  // namespace kernelcast::launch
