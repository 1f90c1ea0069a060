#include "records/queue.hpp"

#include <fmt/format.h>

#include "records/table/meanings.hpp"

namespace kernelcast::record {

Schema<Stations> const& Stations::schema() {
  using S = Stations;
  static auto const schema = [] {
    Schema<S> s("stations", "a projection of the queue with everything on the way to it, of one launch");
    s.column("kernel", &S::kernel, Unit::none, meaning::kernel)
        .column("case", &S::case_name, Unit::none, meaning::size)
        .may_be_empty()
        .column("device", &S::device, Unit::none, meaning::device)
        .column("time_s", &S::time_s, Unit::seconds, "projected kernel time of all launches; empty when there is none")
        .column("limiter", &S::limiter, Unit::none, "what decides the time")
        .may_be_empty();
    for (Station const station : values_of<Station>)
      s.column(
          fmt::format("{}_s", name(station)), [station](S& r) -> auto& { return r.station_s[station]; }, Unit::seconds,
          fmt::format("what a work-group takes of {}, if it had that to itself", name(station)));
    s.column("service_s", &S::service_s, Unit::seconds, "norm of these: what a group takes of the compute unit")
        .column("latency_s", &S::latency_s, Unit::seconds, "what a group waits besides")
        .column("customers", &S::customers, Unit::count, "groups that take turns")
        .column("groups_of_unit", &S::groups_of_unit, Unit::count, "groups of the busiest compute unit")
        .column("queue_s", &S::queue_s, Unit::seconds, "until these are done")
        .column("longest_s", &S::longest_s, Unit::seconds, "the longest group alone")
        .column("atomics_s", &S::atomics_s, Unit::seconds, "atomics on global memory, one after the other")
        .column("start_s", &S::start_s, Unit::seconds, "fetching instructions for the first time, and giving work out")
        .column("launch_s", &S::launch_s, Unit::seconds, "cost of a launch")
        .column("l2_bytes", &S::l2_bytes, Unit::bytes, "moved by the second-level cache")
        .column("dram_bytes", &S::dram_bytes, Unit::bytes, "moved by memory")
        .column("clock_hz", &S::clock_hz, Unit::hertz, "clock taken")
        .column("occupancy", &S::occupancy, Unit::none, "resident wavefronts over the most that a compute unit holds")
        .column("bound", &S::bound, Unit::none, "what bounds the occupancy: waves, groups, registers, shared")
        .may_be_empty()
        .column("registers", &S::registers, Unit::count, "registers per work-item that the occupancy is computed with")
        .column("status", &S::status, Unit::none, "what became of it, infeasible where the device cannot run it")
        .among({RowStatus::ok, RowStatus::infeasible, RowStatus::unknown, RowStatus::unvalidated})
        .column("reason", &S::reason, Unit::none, "why there is no time, or what was assumed")
        .may_be_empty();
    return s;
  }();
  return schema;
}

Schema<Constant> const& Constant::schema() {
  static auto const schema =
      Schema<Constant>("constant", "a figure of the queue model that is not a fact of a device")
          .column("name", &Constant::name, Unit::none, "as --constant takes it")
          .column("target", &Constant::target, Unit::none, "the architecture that it is of; empty: all others")
          .may_be_empty()
          .column("value", &Constant::value, Unit::none, "in the unit of the next column")
          .column("unit", &Constant::unit, Unit::none, "unit of the value; 1 where it has none")
          .column("source", &Constant::source, Unit::none, "where it comes from, or what it was chosen on");
  return schema;
}

}  // namespace kernelcast::record
