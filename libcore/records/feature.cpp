#include "records/feature.hpp"

#include "records/table/meanings.hpp"

namespace kernelcast::record {

Schema<Feature> const& Feature::schema() {
  static auto const schema =
      Schema<Feature>("feature", "what a kernel launch executes, in the 12 numbers that mangrove learns from")
          .column("kernel", &Feature::kernel, Unit::none, meaning::kernel)
          .column("case", &Feature::case_name, Unit::none, meaning::launch)
          .may_be_empty()
          .column("threads_per_cta", &Feature::threads_per_cta, Unit::count, "work-items of a work-group")
          .column("ctas", &Feature::ctas, Unit::count, "work-groups of the launch")
          .column("inst_total", &Feature::inst_total, Unit::lanes,
                  "PTX instructions executed by work-items, counted where the predicate holds, as the rest")
          .column("inst_special", &Feature::inst_special, Unit::lanes,
                  "sin, cos, ex2, lg2, tanh, rcp, sqrt, rsqrt of any precision")
          .column("inst_logic", &Feature::inst_logic, Unit::lanes, "and, or, xor, not, cnot, lop3, shl, shr, shf")
          .column("inst_control", &Feature::inst_control, Unit::lanes,
                  "branches, calls, ret, exit, trap; a conditional one where it is taken")
          .column("inst_arithmetic", &Feature::inst_arithmetic, Unit::lanes,
                  "arithmetic and comparisons on integers and floating-point numbers, matrix products included")
          .column("inst_sync", &Feature::inst_sync, Unit::lanes, "barriers, fences, waits")
          .column("global_bytes", &Feature::global_bytes, Unit::bytes,
                  "loads, stores and atomics of global memory, and those without a state space")
          .column("param_bytes", &Feature::param_bytes, Unit::bytes, "loads of the kernel's parameters")
          .column("shared_bytes_moved", &Feature::shared_bytes_moved, Unit::bytes,
                  "loads, stores and atomics of shared memory")
          .column(
              "arithmetic_intensity", &Feature::arithmetic_intensity, Unit::none,
              "inst_arithmetic over the instructions that access global or local memory; empty where there are none")
          .optional_column("launches", &Feature::launches, Unit::count,
                           "launches of this configuration; the features are their medians")
          .optional_column("status", &Feature::status, Unit::none, "how it was counted, as in count rows")
          .among({RowStatus::ok, RowStatus::sampled, RowStatus::uncounted})
          .optional_column("reason", &Feature::reason, Unit::none, "why, where the status is not ok")
          .may_be_empty()
          .optional_column("definition", &Feature::definition, Unit::none,
                           "what counts as what: suite, as stated here, or authors, see flux-count(1)");
  return schema;
}

}  // namespace kernelcast::record
