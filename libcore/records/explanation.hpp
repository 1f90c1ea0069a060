// The `explanation` record: a projection with everything on the way to it, for people (`perfcast --explain`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "records/table/schema.hpp"
#include "records/vocabulary.hpp"

namespace kernelcast::record {

struct Explanation {
  std::string kernel, case_name, device;
  std::optional<double> time_s;
  LimiterName limiter;
  std::optional<double> t_compute_s, t_global_s, t_shared_s;
  std::optional<double> occupancy;
  std::string bound;  // what bounds the occupancy
  std::optional<std::uint64_t> groups_per_cu, waves_per_group, registers;
  std::optional<double> groups_per_launch, units_used, rounds, clock_hz;
  std::optional<double> global_read_bytes, global_write_bytes, global_bytes_per_s, saturation, shared_passes;
  RowStatus status = RowStatus::ok;
  std::string reason;

  static Schema<Explanation> const& schema();
};

}  // namespace kernelcast::record
