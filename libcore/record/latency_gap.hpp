// The latencies and gaps of devdb/latgap.csv, and where a missing one is taken from.
//
// latency: cycles from issue until the result can be used. gap: the least cycles between two requests that a unit
// starts, an exact ratio; per compute unit, and per scheduler where each has a unit of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "record/schema.hpp"

namespace kernelcast::record {

struct LatencyGap {
  using Number = std::optional<double>;
  using Count = std::optional<std::uint64_t>;

  std::string architecture, measured_on, target, clock;
  std::string class_name;  // column `class`
  Number latency_cycles, latency_high_cycles;
  Count gap_numerator, gap_denominator;                  // cycles, per compute unit
  Count subcore_gap_numerator, subcore_gap_denominator;  // cycles, per scheduler
  std::string gap_of;                                    // what one gap is for: warp instruction, 128 B line, …
  std::string recommended;                               // yes: the row to use
  std::string src_latency, src_gap, notes;

  static Schema<LatencyGap> const& schema();
};

// One step of the search for a figure that latgap.csv does not have; the steps of a class are tried in order.
struct LatencyFallback {
  std::string class_name;  // column `class`
  std::string quantity;    // latency or gap
  std::string target;      // only for this target (sm_20); empty: for all
  std::string from;        // another class; `architecture`: the nearest target that has it; `throughput`: 32 lanes over
                           // the class's throughput in devices.csv; `cycles`: a constant
  std::uint64_t numerator = 1, denominator = 1;  // what it is multiplied with; with `cycles` the figure itself
  std::string reason;

  static Schema<LatencyFallback> const& schema();
};

}  // namespace kernelcast::record
