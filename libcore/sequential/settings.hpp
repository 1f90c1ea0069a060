// What the driver tells an instrumented program, by environment variables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelcast::seq {

struct Settings {
  std::string output;     // KERNELCAST_SEQPROF_OUTPUT: where the profile goes; seqprof.csv when not set
  std::string case_name;  // KERNELCAST_SEQPROF_CASE: the program's arguments when not set
  std::vector<std::uint64_t> granularities_bytes = {8};  // KERNELCAST_SEQPROF_GRANULARITY: 8,64
  std::uint64_t sample = 1;                              // KERNELCAST_SEQPROF_SAMPLE
  // KERNELCAST_SEQPROF_SYNC: instead of the rule's S, or source: as often as marks in the source are passed.
  std::optional<std::uint64_t> sync;
  bool sync_of_source = false;
  std::string level;  // KERNELCAST_ISA: of instructions, see distance.hpp; the highest that runs here when empty
};

Settings settings_from_environment();

}  // namespace kernelcast::seq
