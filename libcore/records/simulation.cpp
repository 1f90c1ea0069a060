#include "records/simulation.hpp"

namespace kernelcast::record {

namespace {

constexpr auto app_meaning = "application, or the stem of a graph file";
constexpr auto n_meaning = "problem size; 0 for a graph from a file";
constexpr auto gpu_meaning = "slug of the GPU in the device database";
constexpr auto system_meaning = "name of the system";
constexpr auto map_meaning = "GPU of each part, by number, joined by ;";
constexpr auto buffer_meaning = "host memory that holds the host buffers: hostN, or nearest to each GPU";

}  // namespace

Schema<Simulation> const& Simulation::schema() {
  static auto const schema =
      Schema<Simulation>("simulation", "what an application takes when it is divided over GPUs")
          .optional_column("app", &Simulation::app, Unit::none, app_meaning)
          .may_be_empty()
          .column("n", &Simulation::n, Unit::none, n_meaning)
          .column("gpus", &Simulation::gpus, Unit::count, "GPUs, one part of the work on each")
          .optional_column("gpu", &Simulation::gpu, Unit::none, gpu_meaning)
          .may_be_empty()
          .optional_column("system", &Simulation::system, Unit::none, system_meaning)
          .may_be_empty()
          .optional_column("alloc", &Simulation::alloc, Unit::none,
                           "how bandwidth is shared: maxmin (fair), seed (as the thesis prints it), rounds")
          .may_be_empty()
          .column("time_s", &Simulation::time_s, Unit::seconds,
                  "from the first to the last task; empty when infeasible")
          .optional_column("compute_s", &Simulation::compute_s, Unit::seconds,
                           "kernel time of the GPU that computes longest")
          .optional_column("copy_s", &Simulation::copy_s, Unit::seconds, "while at least one copy is under way")
          .optional_column("bottleneck_link", &Simulation::bottleneck_link, Unit::none,
                           "link and direction that limited copies longest; empty: none")
          .may_be_empty()
          .optional_column("status", &Simulation::status, Unit::none, "whether the system can run it")
          .among({RowStatus::ok, RowStatus::infeasible})
          .may_be_empty()
          .optional_column("reason", &Simulation::reason, Unit::none, "why there is no time")
          .may_be_empty()
          .optional_column("map", &Simulation::map, Unit::none, map_meaning)
          .may_be_empty()
          .optional_column("host_buffer", &Simulation::host_buffer, Unit::none, buffer_meaning)
          .may_be_empty()
          .optional_column("copied_bytes", &Simulation::copied_bytes, Unit::bytes, "sum over all copies")
          .optional_column("iterations", &Simulation::iterations, Unit::count, "of the application's loop")
          .optional_column("clock_hz", &Simulation::clock_hz, Unit::hertz,
                           "of the GPUs' cores, where it was given; empty: the database's")
          .optional_column("kernel_gpus", &Simulation::kernel_gpus, Unit::none,
                           "kernels that use fewer GPUs, and how many, joined by ;")
          .may_be_empty();
  return schema;
}

Schema<Choice> const& Choice::schema() {
  static auto const schema =
      Schema<Choice>("choice", "how many GPUs to use for a problem size")
          .column("app", &Choice::app, Unit::none, app_meaning)
          .may_be_empty()
          .column("n", &Choice::n, Unit::none, n_meaning)
          .column("gpu", &Choice::gpu, Unit::none, gpu_meaning)
          .may_be_empty()
          .column("system", &Choice::system, Unit::none, system_meaning)
          .may_be_empty()
          .column("gpus", &Choice::gpus, Unit::count, "number of GPUs with the least time")
          .column("time_s", &Choice::time_s, Unit::seconds, "its time")
          .column("runner_up_gpus", &Choice::runner_up_gpus, Unit::count,
                  "the next best number of GPUs; empty: there is no other")
          .column("margin_pct", &Choice::margin_pct, Unit::percent, "how much longer the runner-up takes")
          .column("model", &Choice::model, Unit::none, "what gave the times: simulation, or the fitted model")
          .optional_column("map", &Choice::map, Unit::none, map_meaning)
          .may_be_empty()
          .optional_column("host_buffer", &Choice::host_buffer, Unit::none, buffer_meaning)
          .may_be_empty()
          .optional_column("runner_up_map", &Choice::runner_up_map, Unit::none, "map of the runner-up")
          .may_be_empty()
          .optional_column("runner_up_host_buffer", &Choice::runner_up_host_buffer, Unit::none,
                           "host_buffer of the runner-up")
          .may_be_empty()
          .optional_column("bottleneck_link", &Choice::bottleneck_link, Unit::none,
                           "link and direction that limited copies longest; empty: none")
          .may_be_empty()
          .optional_column("sensitive_to", &Choice::sensitive_to, Unit::none,
                           "classes of links that change the number of GPUs when they are 25 % slower (-) or faster "
                           "(+), each with the number then: pcie-:4;nvlink+:8")
          .may_be_empty()
          .optional_column("search", &Choice::search, Unit::none,
                           "exhaustive: no mapping or placement is faster; local: improved until no swap helps")
          .may_be_empty()
          .optional_column("lower_bound_s", &Choice::lower_bound_s, Unit::seconds,
                           "no number of GPUs, mapping or placement takes less");
  return schema;
}

Schema<Sensitivity> const& Sensitivity::schema() {
  static auto const schema =
      Schema<Sensitivity>("sensitivity", "what becomes of a choice when the links of a class change")
          .column("app", &Sensitivity::app, Unit::none, app_meaning)
          .column("n", &Sensitivity::n, Unit::none, n_meaning)
          .column("gpu", &Sensitivity::gpu, Unit::none, gpu_meaning)
          .column("system", &Sensitivity::system, Unit::none, system_meaning)
          .column("class", &Sensitivity::link_class, Unit::none, "class of the links that are changed")
          .column("bandwidth_factor", &Sensitivity::bandwidth_factor, Unit::none,
                  "their bandwidth over that of the system file")
          .column("gpus", &Sensitivity::gpus, Unit::count, "the choice then")
          .column("time_s", &Sensitivity::time_s, Unit::seconds, "its time then")
          .column("loss_pct", &Sensitivity::loss_pct, Unit::percent,
                  "what the choice made without the change loses against it");
  return schema;
}

}  // namespace kernelcast::record
