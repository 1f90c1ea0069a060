// The model's input and output as rows.
#include <utility>

#include <fmt/format.h>

#include "models/panwar.hpp"

namespace kernelcast::model::panwar {

void check(record::Reader<record::Kernel> const& rows, record::Kernel const& k) {
  for (auto const& [column, value] :
       {std::pair{"launches", k.launches}, std::pair{"block_x", k.block_x}, std::pair{"block_y", k.block_y},
        std::pair{"block_z", k.block_z}, std::pair{"groups_total", k.groups_total}})
    if (value == 0) throw rows.error(column, "must be at least 1", "a row of no launch or no work-item has no time");
  if (k.spread_pct && *k.spread_pct < 0) throw rows.error("spread_pct", "must not be negative", "leave it empty");
  if (k.sampling_error_pct && *k.sampling_error_pct < 0)
    throw rows.error("sampling_error_pct", "must not be negative", "leave it empty");
}

record::Explanation explanation(Terms const& t) {
  auto const& p = t.projection;
  record::Explanation e;
  e.kernel = p.kernel;
  e.case_name = p.case_name;
  e.device = p.device;
  e.time_s = p.time_s;
  e.limiter = p.limiter;
  e.t_compute_s = p.t_compute_s;
  e.t_global_s = p.t_global_s;
  e.t_shared_s = p.t_shared_s;
  e.occupancy = p.occupancy;
  e.bound = t.occupancy.bound;
  e.registers = t.registers;
  e.status = p.status;
  e.reason = p.reason;
  if (p.t_launch_s) e.reason += fmt::format("{}launches {:.3g} s", e.reason.empty() ? "" : "; ", *p.t_launch_s);
  if (!p.time_s) return e;
  e.groups_per_cu = t.occupancy.groups_per_cu;
  e.waves_per_group = t.occupancy.waves_per_group;
  e.groups_per_launch = t.groups_per_launch;
  e.units_used = t.units_used;
  e.rounds = t.rounds;
  e.clock_hz = t.clock_hz;
  e.global_read_bytes = t.global_read_bytes;
  e.global_write_bytes = t.global_write_bytes;
  e.global_bytes_per_s = t.global_read_bytes_per_s;
  e.saturation = t.saturation;
  e.shared_passes = t.shared_passes;
  return e;
}

}  // namespace kernelcast::model::panwar
