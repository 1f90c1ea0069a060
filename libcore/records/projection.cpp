#include "records/projection.hpp"

#include "records/table/meanings.hpp"

namespace kernelcast::record {

Schema<Projection> const& Projection::schema() {
  static constexpr std::array limiters{
      Limiter::compute, Limiter::global,  Limiter::shared,  Limiter::issue,  Limiter::fp32,  Limiter::int_,
      Limiter::fp64,    Limiter::special, Limiter::lsu,     Limiter::l1,     Limiter::l2,    Limiter::dram,
      Limiter::atomics, Limiter::latency, Limiter::barrier, Limiter::launch, Limiter::tensor};
  static auto const schema = [] {
    Schema<Projection> s("projection", "how long a kernel takes on a device according to a model");
    add_projection_columns(s, limiters)
        .optional_column("t_compute_s", &Projection::t_compute_s, Unit::seconds, "time of the instruction units")
        .optional_column("t_global_s", &Projection::t_global_s, Unit::seconds, "time of the global memory transactions")
        .optional_column("t_shared_s", &Projection::t_shared_s, Unit::seconds, "time of the shared memory passes")
        .optional_column("occupancy", &Projection::occupancy, Unit::none,
                         "resident wavefronts over the most that a compute unit holds")
        .optional_column("bandwidth_source", &Projection::bandwidth_source, Unit::none,
                         "where the global bandwidth comes from: curve, measured or peak")
        .may_be_empty()
        .optional_column("t_launch_s", &Projection::t_launch_s, Unit::seconds,
                         "with --launch-delay: from the submissions of the launches to their starts");
    return s;
  }();
  return schema;
}

void Projection::clear() {
  static Projection const empty;
  *this = empty;  // texts keep their memory
}

Schema<Measured> const& Measured::schema() {
  static auto const schema =
      Schema<Measured>("measured", "a time that was measured on a real device")
          .column("kernel", &Measured::kernel, Unit::none, meaning::kernel)
          .column("case", &Measured::case_name, Unit::none, meaning::size)
          .may_be_empty()
          .accepts("size")
          .column("device", &Measured::device, Unit::none, meaning::device)
          .column("time_s", &Measured::time_s, Unit::seconds, "measured kernel time; empty when the run failed")
          .optional_column("suite", &Measured::suite, Unit::none, "which set of measurements it is of")
          .may_be_empty()
          .optional_column("program", &Measured::program, Unit::none, "the program or benchmark that was measured")
          .may_be_empty()
          .optional_column("problem", &Measured::problem, Unit::none,
                           "what is computed; kernels and cases of one problem are alternatives")
          .may_be_empty()
          .optional_column("part", &Measured::part, Unit::none,
                           "of a split: chosen (constants may have been chosen on it) or held (out)")
          .may_be_empty();
  return schema;
}

}  // namespace kernelcast::record
