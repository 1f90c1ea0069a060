#include "records/steering.hpp"

#include "records/table/meanings.hpp"

namespace kernelcast::record {

Schema<Steering> const& Steering::schema() {
  static auto const schema = [] {
    Schema<Steering> s("steering", "where the launches of each kernel and sizes went, of the machine's own devices");
    s.column("kernel", &Steering::kernel, Unit::none, meaning::kernel)
        .column("case", &Steering::case_name, Unit::none, "sizes of the launch: <global>/<local>")
        .may_be_empty()
        .column("place", &Steering::place, Unit::none,
                "the OpenCL device that the application launched it on: its number on the machine, as --device-map has "
                "it; several are joined by +")
        .may_be_empty()
        .column("device", &Steering::device, Unit::none,
                "that device in the device database; empty where it is not there")
        .may_be_empty()
        .column("to_place", &Steering::to_place, Unit::none, "the OpenCL device that launches went to instead")
        .may_be_empty()
        .column("to_device", &Steering::to_device, Unit::none, "that device in the device database")
        .may_be_empty()
        .column("launches", &Steering::launches, Unit::count, "launches of this kernel and these sizes")
        .column("launches_steered", &Steering::launches_steered, Unit::count, "those that went elsewhere")
        .column("reason", &Steering::reason, Unit::none, "why none did")
        .may_be_empty();
    return s;
  }();
  return schema;
}

}  // namespace kernelcast::record
