// What a row that describes a device must have, whichever file it comes from.
#pragma once

#include <vector>

#include "records/device/device.hpp"
#include "records/table/table.hpp"

namespace kernelcast::device {

// Each throws Error(bad_data) with the place in the row. What a device needs to be described without another one; its
// figures; and its occupancy rule, the row of `rules` that it names with the device's own limits in their place.
void check_complete(record::Device const&, record::RowReader const&);
void check_figures(record::Device const&, record::RowReader const&);
void set_rule(Device&, std::vector<record::OccupancyRule> const& rules, record::RowReader const&);

}  // namespace kernelcast::device
