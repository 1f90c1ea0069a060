#include "records/advice.hpp"

#include "records/table/meanings.hpp"

namespace kernelcast::record {

Schema<Advice> const& Advice::schema() {
  static auto const schema = [] {
    Schema<Advice> s("advice", "the best device for each distinct launch of a running application");
    s.column("kernel", &Advice::kernel, Unit::none, meaning::kernel)
        .column("case", &Advice::case_name, Unit::none, "sizes of the launch: <global>/<local>")
        .may_be_empty()
        .column("device", &Advice::device, Unit::none, "the device with the least projected time; empty: no advice")
        .may_be_empty()
        .column("time_s", &Advice::time_s, Unit::seconds, "projected time of one launch there")
        .column("time_low_s", &Advice::time_low_s, Unit::seconds, meaning::low)
        .column("time_high_s", &Advice::time_high_s, Unit::seconds, meaning::high)
        .column("limiter", &Advice::limiter, Unit::none, "what decides the time there, as the model says")
        .may_be_empty()
        .column("decided", &Advice::decided, Unit::none, "no where another device may be as fast as the best, else yes")
        .may_be_empty()
        .column("next_device", &Advice::next_device, Unit::none, "the second best device; empty: there is none")
        .may_be_empty()
        .column("next_time_s", &Advice::next_time_s, Unit::seconds, "projected time of one launch on the second best")
        .column("status", &Advice::status, Unit::none,
                "whether there is advice; unknown where no device has a time, failed where the emulation ended with an "
                "error, skipped where the launch cannot be described, over_budget where no time was left for it")
        .among({RowStatus::ok, RowStatus::unknown, RowStatus::failed, RowStatus::skipped, RowStatus::over_budget})
        .column("reason", &Advice::reason, Unit::none, "why there is no advice")
        .may_be_empty()
        .column("source", &Advice::source, Unit::none,
                "emulated, or cache: the launch was counted before, in this or an earlier run")
        .may_be_empty()
        .column("advice_wall_s", &Advice::advice_wall_s, Unit::seconds,
                "cost of this advice: time from taking up the launch to the projections, pauses for the budget "
                "included")
        .column("advice_cpu_s", &Advice::advice_cpu_s, Unit::seconds,
                "cost of this advice: processor time, compilers included")
        .column("at_s", &Advice::at_s, Unit::seconds, "when the advice was there, after the start of the application")
        .column("launches", &Advice::launches, Unit::count, "launches of this kernel and these sizes by then")
        .column("steered_to", &Advice::steered_to, Unit::none,
                "with --steer: the device of the machine that launches go to from now on; empty: they stay where the "
                "application puts them")
        .may_be_empty();
    return s;
  }();
  return schema;
}

}  // namespace kernelcast::record
