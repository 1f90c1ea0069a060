// What the work-groups of a launch read and write of each buffer, as a function of their place in the grid.
//
// Method: a few groups are emulated, the corners of the grid's interior and one in its middle; for each buffer argument
// the first and the last byte that each of them touches are affine in the group's coordinates, or they are not.
// Groups at the rim may touch less (guards, borders) and do not count where there are others.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/recording.hpp"
#include "launch/launch.hpp"

namespace kernelcast::intercept {

// Access::buffer is the argument's number, from 0.
struct LaunchAccesses {
  std::array<std::uint64_t, 3> groups{1, 1, 1};
  std::vector<graph::Access> accesses;
};

// Of a plan's first call. Throws what launch::run() throws.
LaunchAccesses find_accesses(launch::Plan, launch::RunOptions const&);

}  // namespace kernelcast::intercept
