#include "record/projection.hpp"

namespace kernelcast::record {

Schema<Projection> const& Projection::schema() {
  static auto const schema =
      Schema<Projection>("projection", "how long a kernel takes on a device according to a model")
          .column("kernel", &Projection::kernel, Unit::none, "name of the kernel function")
          .column("case", &Projection::case_name, Unit::none, "problem size or launch of the kernel")
          .may_be_empty()
          .accepts("size")
          .column("device", &Projection::device, Unit::none, "slug of the device in the device database")
          .column("model", &Projection::model, Unit::none, "the model that made the projection")
          .column("time_s", &Projection::time_s, Unit::seconds,
                  "projected kernel time of all launches; empty when infeasible or unknown")
          .column("time_low_s", &Projection::time_low_s, Unit::seconds, "lower end of the interval that holds the time")
          .column("time_high_s", &Projection::time_high_s, Unit::seconds,
                  "upper end of the interval that holds the time")
          .column("limiter", &Projection::limiter, Unit::none,
                  "the term that decides the time: compute, global, shared")
          .may_be_empty()
          .column("status", &Projection::status, Unit::none, "ok, infeasible (the device cannot run it) or unknown")
          .column("reason", &Projection::reason, Unit::none, "why there is no time, or what was assumed")
          .may_be_empty()
          .optional_column("t_compute_s", &Projection::t_compute_s, Unit::seconds, "time of the instruction units")
          .optional_column("t_global_s", &Projection::t_global_s, Unit::seconds,
                           "time of the global memory transactions")
          .optional_column("t_shared_s", &Projection::t_shared_s, Unit::seconds, "time of the shared memory passes")
          .optional_column("occupancy", &Projection::occupancy, Unit::none,
                           "resident wavefronts over the most that a compute unit holds")
          .optional_column("bandwidth_source", &Projection::bandwidth_source, Unit::none,
                           "where the global bandwidth comes from: curve, measured or peak")
          .may_be_empty();
  return schema;
}

Schema<Measured> const& Measured::schema() {
  static auto const schema =
      Schema<Measured>("measured", "a time that was measured on a real device")
          .column("kernel", &Measured::kernel, Unit::none, "name of the kernel function")
          .column("case", &Measured::case_name, Unit::none, "problem size or launch of the kernel")
          .may_be_empty()
          .accepts("size")
          .column("device", &Measured::device, Unit::none, "slug of the device in the device database")
          .column("time_s", &Measured::time_s, Unit::seconds, "measured kernel time; empty when the run failed");
  return schema;
}

}  // namespace kernelcast::record
