#include "records/emulation.hpp"

#include "records/projection.hpp"

namespace kernelcast::record {

namespace {

// The busiest unit, or what warps wait for where none is busy.
constexpr std::array limiters{Limiter::issue,        Limiter::core,    Limiter::integer,     Limiter::fp64,
                              Limiter::special,      Limiter::shared,  Limiter::l1,          Limiter::l2,
                              Limiter::dram,         Limiter::barrier, Limiter::memory_wait, Limiter::dependency_wait,
                              Limiter::barrier_wait, Limiter::atomics, Limiter::launch,      Limiter::tensor};

void add_run(Schema<Emulation>& s) {
  s.column("cycles", &Emulation::cycles, Unit::cycles, "projected cycles of all launches, at the device's clock")
      .column("order", &Emulation::order, Unit::none, "the instruction order of time_s: program, list or sass")
      .may_be_empty()
      .column("scheduler", &Emulation::scheduler, Unit::none, "which warp issues: gto, rr or two-level")
      .may_be_empty()
      .column("cache", &Emulation::cache, Unit::none,
              "simulated, warm (simulated after an earlier run of the launch), none, or given (hit rates)")
      .may_be_empty()
      .column("time_program_order_s", &Emulation::time_program_order_s, Unit::seconds,
              "time with the instructions in the order of the PTX")
      .column("time_list_order_s", &Emulation::time_list_order_s, Unit::seconds,
              "time with each block's instructions reordered by a list scheduler")
      .column("time_sass_s", &Emulation::time_sass_s, Unit::seconds, "time with the instructions of a SASS listing");
}

void add_waves(Schema<Emulation>& s) {
  s.column("groups_traced", &Emulation::groups_traced, Unit::count, "work-groups that the emulation is made of")
      .column("groups_per_cu", &Emulation::groups_per_cu, Unit::count, "work-groups resident on a compute unit")
      .column("warps_per_cu", &Emulation::warps_per_cu, Unit::count, "wavefronts resident on a compute unit")
      .column("full_waves", &Emulation::full_waves, Unit::count,
              "rounds in which every compute unit is full, all launches")
      .column("tail_groups", &Emulation::tail_groups, Unit::count, "work-groups of the last rounds, all launches")
      .column("full_wave_cycles", &Emulation::full_wave_cycles, Unit::cycles, "cycles of the full rounds")
      .column("tail_cycles", &Emulation::tail_cycles, Unit::cycles, "cycles of the last rounds")
      .column("warp_instructions", &Emulation::warp_instructions, Unit::count,
              "wavefront instructions emulated for time_s");
}

void add_shares(Schema<Emulation>& s) {
  s.column("busy_issue", &Emulation::busy_issue, Unit::none, "part of the time in which the schedulers issue")
      .column("busy_core", &Emulation::busy_core, Unit::none, "part of the time in which the fp32 lanes are taken")
      .column("busy_integer", &Emulation::busy_integer, Unit::none,
              "the same of the integer lanes, where they are not the fp32 lanes")
      .column("busy_fp64", &Emulation::busy_fp64, Unit::none, "the same of the fp64 units")
      .column("busy_special", &Emulation::busy_special, Unit::none, "the same of the special function units")
      .column("busy_shared", &Emulation::busy_shared, Unit::none, "the same of shared memory")
      .column("busy_l1", &Emulation::busy_l1, Unit::none, "the same of the first-level cache")
      .column("busy_l2", &Emulation::busy_l2, Unit::none, "the same of this unit's part of the second-level cache")
      .column("busy_dram", &Emulation::busy_dram, Unit::none, "the same of this unit's part of the device memory")
      .column("busy_barrier", &Emulation::busy_barrier, Unit::none, "the same of the barrier unit")
      .column("stall_dependency", &Emulation::stall_dependency, Unit::none,
              "part of the warps' time in which they wait for results of arithmetic")
      .column("stall_memory", &Emulation::stall_memory, Unit::none, "the same for data from any memory")
      .column("stall_barrier", &Emulation::stall_barrier, Unit::none, "the same at barriers")
      .column("stall_issue", &Emulation::stall_issue, Unit::none, "the same, ready, for a turn of the scheduler")
      .column("l1_hit", &Emulation::l1_hit, Unit::none, "part of the loads' sectors that the first-level cache had")
      .column("l2_hit", &Emulation::l2_hit, Unit::none, "part of those beyond it that the second-level cache had")
      .column("dram_bytes", &Emulation::dram_bytes, Unit::bytes,
              "moved from and to device memory for the groups of all launches")
      .column("busy_scalar", &Emulation::busy_scalar, Unit::none,
              "part of the time in which the scalar unit is taken, where there is one")
      .column("busy_tensor", &Emulation::busy_tensor, Unit::none, "the same of the matrix units");
}

}  // namespace

Schema<Emulation> const& Emulation::schema() {
  static auto const schema = [] {
    Schema<Emulation> s("projection", "how long a kernel takes on a device by latency/gap emulation");
    add_projection_columns(s, limiters);
    add_run(s);
    add_waves(s);
    add_shares(s);
    return s;
  }();
  return schema;
}

}  // namespace kernelcast::record
