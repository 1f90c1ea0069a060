// The latencies and gaps of devdb/latgap.csv, and where a missing one is taken from.
//
// latency: cycles from issue until the result can be used. gap: the least cycles between two requests that a unit
// starts, an exact ratio; per compute unit, and per scheduler where each has a unit of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "records/table/schema.hpp"

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
  std::string from;  // another class; `architecture`: the nearest target that has it; `throughput`: a wavefront over
                     // the class's throughput in devices.csv; `gap`: of the same class; `cycles`: a constant
  std::uint64_t numerator = 1, denominator = 1;  // what it is multiplied with; with `cycles` the figure itself
  std::string reason;

  static Schema<LatencyFallback> const& schema();
};

// How the schedulers of an architecture choose, where it is not one instruction a turn, whatever it is.
struct IssueRule {
  std::string target;  // gfx600;gfx701
  // Of a turn, each for another wavefront: vector, scalar, vector_memory, shared, branch. Joined by ;
  std::string kinds;
  std::string staggered;                    // yes: schedulers take turns, one begins in a clock
  std::uint64_t wavefront_turn_cycles = 1;  // from an instruction of a wavefront to its next
  std::string waits;                        // yes: an instruction waits for loads, which complete in their order
  std::string order;                        // which wavefront of several: oldest
  std::string apart;                        // classes with a unit beside the vector unit; empty: none. Joined by ;
  std::string source, assumed;

  static Schema<IssueRule> const& schema();
};

}  // namespace kernelcast::record
