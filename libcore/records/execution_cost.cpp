#include "records/execution_cost.hpp"

namespace kernelcast::record {

Schema<ExecutionCost> const& ExecutionCost::schema() {
  using R = ExecutionCost;
  static constexpr std::array limiters{Limiter::compute, Limiter::fast_memory, Limiter::slow_memory,
                                       Limiter::latency, Limiter::sync,        Limiter::transfer};
  static auto const schema = [] {
    Schema<R> s("projection", "how long the best parallel version of a kernel takes on a device");
    add_projection_columns(s, limiters)
        .optional_column("t_comp_s", &R::t_comp_s, Unit::seconds, "time of the floating-point operations")
        .optional_column("t_mem_s", &R::t_mem_s, Unit::seconds,
                         "time of the memory accesses, the sum of t_fast_s, t_slow_s and t_latency_s")
        .optional_column("t_sync_s", &R::t_sync_s, Unit::seconds, "time of the global synchronizations")
        .optional_column("t_transfer_s", &R::t_transfer_s, Unit::seconds,
                         "time to move the touched bytes over the link; empty without --link")
        .optional_column("t_fast_s", &R::t_fast_s, Unit::seconds, "bytes served by the on-chip memory")
        .optional_column("t_slow_s", &R::t_slow_s, Unit::seconds, "bytes served by the off-chip memory")
        .optional_column("t_latency_s", &R::t_latency_s, Unit::seconds, "latencies along the critical path")
        .optional_column("instruction_mix", &R::instruction_mix, Unit::none,
                         "f_im: part of the peak that the balance of additions and multiplications allows")
        .optional_column("vectorization", &R::vectorization, Unit::none,
                         "f_v: part of the peak that vectorizable operations allow; 1 on GPUs");
    return s;
  }();
  return schema;
}

}  // namespace kernelcast::record
