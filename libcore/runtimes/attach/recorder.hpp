// An attached application as a recording: what was noted of its commands (command_log.hpp), with what emulation says of
// each launch.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "models/graph/recording.hpp"
#include "records/kernel.hpp"
#include "runtimes/attach/accesses.hpp"
#include "runtimes/attach/spool_reader.hpp"

namespace kernelcast::attach {

// What is known of a configuration: counts of one launch, and the accesses of its launch file.
struct Known {
  record::Kernel row;
  LaunchAccesses accesses;
};
using KnownLaunches = std::map<std::pair<std::string, std::uint64_t>, Known>;  // Spooled::key()

// What a launch uses of a GPU, [braun] 3.2.1: bytes to and from global and shared memory, and instructions by what
// their units could do meanwhile (an instruction of floating-point arithmetic has the place of two operations).
graph::Demand demand_of(record::Kernel const&);

// Unknown launches are left out, and reported once for each kernel. Several processes follow one another.
graph::Recording recording_of(SpoolReader const&, KnownLaunches const&, std::string app,
                              std::function<void(std::string_view)> const& report);

}  // namespace kernelcast::attach
