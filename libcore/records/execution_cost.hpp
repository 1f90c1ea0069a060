// The `projection` record as the execution-cost model [automatch] fills it.
#pragma once

#include <optional>
#include <string>

#include "records/projection.hpp"

namespace kernelcast::record {

struct ExecutionCost {
  std::string kernel;
  std::string case_name;  // column `case`
  std::string device;
  std::string model;
  std::optional<double> time_s, time_low_s, time_high_s;
  LimiterName limiter;
  RowStatus status = RowStatus::ok;
  std::string reason;

  std::optional<double> t_comp_s, t_mem_s, t_sync_s, t_transfer_s;
  std::optional<double> t_fast_s, t_slow_s, t_latency_s;  // the parts of t_mem_s
  std::optional<double> instruction_mix, vectorization;   // f_im, f_v

  static Schema<ExecutionCost> const& schema();
};

}  // namespace kernelcast::record
