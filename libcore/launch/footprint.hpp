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

#include <cstdint>
#include <optional>
#include <span>

#include "emu/emu.hpp"

namespace kernelcast::launch {

// Groups with more warp instructions together are not run again for this: some 20 ms.
inline constexpr std::uint64_t most_instructions_for_footprint = 8000000;

struct FootprintGrowth {
  double factor = 1;               // distinct bytes of all groups over those of the emulated ones
  std::uint64_t middle = 0;        // the group in the middle, linear
  std::uint64_t middle_bytes = 0;  // what it touches
};

// Writes to `memory`. `emulated` are linear groups, at least one; `most_steps` bounds the warp instructions.
std::optional<FootprintGrowth> footprint_growth(emu::Program const&, emu::Launch, emu::Memory& memory,
                                                std::span<std::uint64_t const> emulated, std::uint64_t most_steps);

}  // namespace kernelcast::launch
