#include "records/target.hpp"

#include "records/table/meanings.hpp"

namespace kernelcast::record {

Schema<Target> const& Target::schema() {
  static auto const schema =
      Schema<Target>("target", "measured time and power of a kernel on a device")
          .column("kernel", &Target::kernel, Unit::none, meaning::kernel)
          .column("case", &Target::case_name, Unit::none, "sizes of the launch: work-items of the grid/of a work-group")
          .may_be_empty()
          .column("device", &Target::device, Unit::none, "the device's id in the database, or its own name")
          .column("time_s", &Target::time_s, Unit::seconds, "time of one run: the median over the repetitions")
          .column("power_w", &Target::power_w, Unit::watts, "mean power of the device while the kernel was repeated")
          .column("time_mad_s", &Target::time_mad_s, Unit::seconds, "median absolute deviation of that time")
          .column("runs", &Target::runs, Unit::count, "how often the kernel ran to be measured")
          .column("power_samples", &Target::power_samples, Unit::count,
                  "values of the counter or the sensor behind the power")
          .column("power_source", &Target::power_source, Unit::none,
                  "energy_counter: energy over time; sensor: mean of the power sensor; empty without a power")
          .may_be_empty()
          .column("status", &Target::status, Unit::none, "whether it was measured")
          .among({RowStatus::ok, RowStatus::unknown})
          .column("reason", &Target::reason, Unit::none, "why something is unknown; empty otherwise")
          .may_be_empty();
  return schema;
}

}  // namespace kernelcast::record
