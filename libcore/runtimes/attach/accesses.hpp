// What the work-groups of a launch file's launch read and write of each of its buffers: a few groups are emulated, see
// group_ranges.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/launch/launch.hpp"
#include "models/graph/recording.hpp"

namespace kernelcast::attach {

struct LaunchAccesses {
  std::array<std::uint64_t, 3> groups{1, 1, 1};
  // Access::buffer is the argument's number, from 0, and Access::first counts from where that points to.
  std::vector<graph::Access> accesses;
  // Of buffers that only pointers in memory lead to, by where they lay in the application (launch::Buffer::at).
  std::vector<std::pair<std::uint64_t, graph::Access>> by_address;
};

// Of a plan's first call. Throws what launch::run() throws.
LaunchAccesses find_accesses(launch::Plan, launch::RunOptions const&);

}  // namespace kernelcast::attach
