#include "records/latency_gap.hpp"

namespace kernelcast::record {

Schema<LatencyGap> const& LatencyGap::schema() {
  static auto const schema =
      Schema<LatencyGap>("latency_gap", "latency and gap of a class of instructions on an architecture")
          .column("architecture", &LatencyGap::architecture, Unit::none, "architecture; all where it is one figure")
          .column("measured_on", &LatencyGap::measured_on, Unit::none,
                  "the device; a slug of devices.csv where the row is for that device alone")
          .may_be_empty()
          .column("target", &LatencyGap::target, Unit::none,
                  "compute capability (sm_70, sm_50/52) or gfx target that it stands for")
          .may_be_empty()
          .column("clock", &LatencyGap::clock, Unit::none, "the clock that cycles are counted in")
          .may_be_empty()
          .column("class", &LatencyGap::class_name, Unit::none, "class of instructions, or level of the memory")
          .column("latency_cycles", &LatencyGap::latency_cycles, Unit::cycles,
                  "from issue until the result can be used")
          .column("latency_high_cycles", &LatencyGap::latency_high_cycles, Unit::cycles,
                  "upper end where the source states a range")
          .column("gap_numerator_cycles", &LatencyGap::gap_numerator, Unit::cycles,
                  "cycles between two requests of a compute unit, numerator")
          .column("gap_denominator", &LatencyGap::gap_denominator, Unit::count, "and denominator")
          .column("subcore_gap_numerator_cycles", &LatencyGap::subcore_gap_numerator, Unit::cycles,
                  "the same per scheduler, where each has a unit of its own")
          .column("subcore_gap_denominator", &LatencyGap::subcore_gap_denominator, Unit::count, "and denominator")
          .column("gap_of", &LatencyGap::gap_of, Unit::none, "what one gap is for")
          .may_be_empty()
          .column("recommended", &LatencyGap::recommended, Unit::none, "yes: the row to use; no: for comparison")
          .column("src_latency", &LatencyGap::src_latency, Unit::none, "source of the latency")
          .may_be_empty()
          .column("src_gap", &LatencyGap::src_gap, Unit::none, "source of the gap")
          .may_be_empty()
          .column("notes", &LatencyGap::notes, Unit::none, "what is doubtful, and other sources' figures")
          .may_be_empty();
  return schema;
}

Schema<LatencyFallback> const& LatencyFallback::schema() {
  static auto const schema =
      Schema<LatencyFallback>("latency_fallback", "where a missing latency or gap is taken from; steps in order")
          .column("class", &LatencyFallback::class_name, Unit::none, "the class that lacks a figure")
          .column("quantity", &LatencyFallback::quantity, Unit::none, "latency or gap")
          .column("target", &LatencyFallback::target, Unit::none, "only for this target; empty: for all")
          .may_be_empty()
          .column(
              "from", &LatencyFallback::from, Unit::none,
              "another class; architecture: the nearest target that has the figure; throughput: a wavefront over the "
              "class's throughput in devices.csv; gap: of the same class; cycles: a constant")
          .column("numerator", &LatencyFallback::numerator, Unit::count, "what it is multiplied with, or the constant")
          .column("denominator", &LatencyFallback::denominator, Unit::count, "and divided by")
          .column("reason", &LatencyFallback::reason, Unit::none, "why this is assumed");
  return schema;
}

Schema<IssueRule> const& IssueRule::schema() {
  static auto const schema =
      Schema<IssueRule>("issue_rule", "how the schedulers of an architecture choose instructions")
          .column("target", &IssueRule::target, Unit::none, "gfx targets, joined by ;")
          .column("kinds", &IssueRule::kinds, Unit::none,
                  "kinds of instructions of which a scheduler issues one a turn each, of different wavefronts: vector, "
                  "scalar, vector_memory, shared, branch; joined by ;")
          .column("staggered", &IssueRule::staggered, Unit::none,
                  "yes: the schedulers of a compute unit begin their turns one after the other")
          .column("wavefront_turn_cycles", &IssueRule::wavefront_turn_cycles, Unit::cycles,
                  "from an instruction of a wavefront to its next, at least")
          .column("waits", &IssueRule::waits, Unit::none,
                  "yes: loads are waited for by an instruction, and complete in their order")
          .column("order", &IssueRule::order, Unit::none, "which of several wavefronts: oldest")
          .column("apart", &IssueRule::apart, Unit::none,
                  "classes of latgap.csv with a unit beside the vector unit, joined by ;")
          .may_be_empty()
          .column("source", &IssueRule::source, Unit::none, "where this is stated")
          .column("assumed", &IssueRule::assumed, Unit::none, "what of it no source states")
          .may_be_empty();
  return schema;
}

}  // namespace kernelcast::record
