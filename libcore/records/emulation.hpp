// The projection that akemu writes: a projection with what the emulation of a compute unit saw.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "records/table/schema.hpp"
#include "records/vocabulary.hpp"

namespace kernelcast::record {

// Infeasible or unknown: times empty, `status` other than "ok", `reason` says why.
struct Emulation {
  using Number = std::optional<double>;
  using Count = std::optional<std::uint64_t>;

  std::string kernel, case_name, device, model;
  Number time_s, time_low_s, time_high_s;
  LimiterName limiter;
  RowStatus status = RowStatus::ok;
  std::string reason;

  Number cycles;
  std::string order, scheduler, cache;
  Number time_program_order_s, time_list_order_s, time_sass_s;
  Count groups_traced, groups_per_cu, warps_per_cu, full_waves, tail_groups;
  Number full_wave_cycles, tail_cycles;
  Count warp_instructions;
  Number busy_issue, busy_core, busy_integer, busy_fp64, busy_special, busy_shared, busy_l1, busy_l2, busy_dram,
      busy_barrier;
  Number stall_dependency, stall_memory, stall_barrier, stall_issue;
  Number l1_hit, l2_hit;
  Number dram_bytes;
  Number busy_scalar, busy_tensor;

  static Schema<Emulation> const& schema();
};

}  // namespace kernelcast::record
