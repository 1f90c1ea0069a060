// What `flux-count` writes beside features: executions by opcode, the metrics of a hardware profiler made of them, and
// what counting costs. [braun] chapter 4.
//
// Every launch has rows; one whose counts are unknown has one row with status and reason, and empty counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "records/table/schema.hpp"
#include "records/vocabulary.hpp"

namespace kernelcast::record {

// A launch as all rows about it name it.
struct CountedLaunch {
  std::string kernel, case_name;
  std::uint64_t launch = 0;
  std::uint64_t grid_x = 1, grid_y = 1, grid_z = 1;
  std::uint64_t block_x = 1, block_y = 1, block_z = 1;
  std::uint64_t shared_bytes = 0;
  std::string device;
  RowStatus status = RowStatus::ok;
  std::string reason;
};

struct Count : CountedLaunch {
  std::string opcode;
  std::optional<std::uint64_t> executed, issued;

  static Schema<Count> const& schema();
};

// [braun] Table 4.3.
struct CountGroup : CountedLaunch {
  std::string metric;
  std::optional<std::uint64_t> value, value_braun;
  std::string counts;  // lanes or wavefronts
  std::string definition;

  static Schema<CountGroup> const& schema();
};

// Issue slots, or time on a device, of one configuration with counters in its code, over those without.
struct CountOverhead {
  std::string kernel, case_name;
  std::uint64_t launches = 0;
  std::uint64_t blocks = 0, counters = 0;
  std::optional<double> issues_w32, issues_minimal_w32, issues_every_block_w32;
  std::optional<double> overhead, overhead_every_block;
  RowStatus status = RowStatus::ok;
  std::string reason;
  std::string device;
  std::optional<double> time_s, time_minimal_s, time_every_block_s, time_overhead, time_overhead_every_block;

  static Schema<CountOverhead> const& schema();
};

}  // namespace kernelcast::record
