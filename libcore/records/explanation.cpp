#include "records/explanation.hpp"

#include "records/table/meanings.hpp"

namespace kernelcast::record {

Schema<Explanation> const& Explanation::schema() {
  using E = Explanation;
  static auto const schema =
      Schema<E>("explanation", "a projection with everything on the way to it")
          .column("kernel", &E::kernel, Unit::none, meaning::kernel)
          .column("case", &E::case_name, Unit::none, meaning::size)
          .may_be_empty()
          .column("device", &E::device, Unit::none, meaning::device)
          .column("time_s", &E::time_s, Unit::seconds,
                  "projected kernel time of all launches; empty when there is none")
          .column("limiter", &E::limiter, Unit::none, "the term that decides the time")
          .may_be_empty()
          .among({Limiter::compute, Limiter::global, Limiter::shared, Limiter::launch})
          .column("t_compute_s", &E::t_compute_s, Unit::seconds, "time of the instruction units")
          .column("t_global_s", &E::t_global_s, Unit::seconds, "time of the global memory transactions")
          .column("t_shared_s", &E::t_shared_s, Unit::seconds, "time of the shared memory passes")
          .column("occupancy", &E::occupancy, Unit::none, "resident wavefronts over the most that a compute unit holds")
          .column("bound", &E::bound, Unit::none, "what bounds the occupancy: waves, groups, registers, shared")
          .may_be_empty()
          .column("groups_per_cu", &E::groups_per_cu, Unit::count, "work-groups resident on a compute unit")
          .column("waves_per_group", &E::waves_per_group, Unit::count, "wavefronts of a work-group")
          .column("registers", &E::registers, Unit::count,
                  "registers per work-item that the occupancy is computed with, in the device's unit")
          .column("groups_per_launch", &E::groups_per_launch, Unit::count, "work-groups of one launch")
          .column("units_used", &E::units_used, Unit::count, "compute units that get a work-group")
          .column("rounds", &E::rounds, Unit::count, "rounds of resident work-groups in one launch")
          .column("clock_hz", &E::clock_hz, Unit::hertz, "clock taken")
          .column("global_read_bytes", &E::global_read_bytes, Unit::bytes, "moved by loads, after coalescing")
          .column("global_write_bytes", &E::global_write_bytes, Unit::bytes, "moved by stores, after coalescing")
          .column("global_bytes_per_s", &E::global_bytes_per_s, Unit::bytes_per_s,
                  "global bandwidth for reads at full occupancy")
          .column("saturation", &E::saturation, Unit::none,
                  "part of that bandwidth which the resident work-groups can ask for")
          .column("shared_passes", &E::shared_passes, Unit::count,
                  "passes over the banks of shared memory, conflicts included")
          .column("status", &E::status, Unit::none, "what became of it, infeasible where the device cannot run it")
          .among({RowStatus::ok, RowStatus::infeasible, RowStatus::unknown})
          .column("reason", &E::reason, Unit::none, "why there is no time, or what was assumed")
          .may_be_empty();
  return schema;
}

}  // namespace kernelcast::record
