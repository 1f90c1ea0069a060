// What `partsim` and `partfit` write about partitions over GPUs: simulated points, choices, and what choices depend on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "records/table/schema.hpp"
#include "records/vocabulary.hpp"

namespace kernelcast::record {

// One point of a sweep. Infeasible: times empty, `status` infeasible, `reason` says why.
struct Simulation {
  std::string app;
  double n = 0;
  std::uint64_t gpus = 1;
  std::string gpu, system, alloc;
  std::optional<double> time_s, compute_s, copy_s;
  std::string bottleneck_link, reason;
  RowStatus status = RowStatus::ok;
  std::string map, host_buffer;
  std::optional<double> copied_bytes;
  std::uint64_t iterations = 1;
  std::optional<double> clock_hz;
  std::string kernel_gpus;

  static Schema<Simulation> const& schema();
};

// How many GPUs to use for one size.
struct Choice {
  std::string app;
  double n = 0;
  std::string gpu, system;
  std::uint64_t gpus = 1;
  double time_s = 0;
  std::optional<std::uint64_t> runner_up_gpus;
  std::optional<double> margin_pct;
  std::string model;  // what gave the times: simulation, or a fitted model
  // Of a simulation only.
  std::string map, host_buffer, runner_up_map, runner_up_host_buffer, bottleneck_link, sensitive_to, search;
  std::optional<double> lower_bound_s;

  static Schema<Choice> const& schema();
};

// What happens to a choice when the links of one class are slower or faster.
struct Sensitivity {
  std::string app;
  double n = 0;
  std::string gpu, system, link_class;
  double bandwidth_factor = 1;
  std::uint64_t gpus = 1;
  double time_s = 0;
  double loss_pct = 0;

  static Schema<Sensitivity> const& schema();
};

}  // namespace kernelcast::record
