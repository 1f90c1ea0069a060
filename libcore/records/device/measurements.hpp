// What measurements say about a device: rows of the `measurement` record become the curves that models read.
//
// Limits: a model reads coalesced accesses of 4-byte words, of 8-byte ones where those are missing; other accesses and
// words, latencies, copies and whatever else is in a file are checked and left to callers that need them. A row whose
// status is not ok counts for nothing, unless doubtful ones are requested.
#pragma once

#include "records/device/device.hpp"
#include "records/measurement.hpp"
#include "records/table/table.hpp"

namespace kernelcast::device {

// Throws Error(bad_data) at the row's place for a metric that is not in the list.
void refuse_unknown_metric(record::Measurement const& row, record::Reader<record::Measurement> const& reader);

// Adds a row to `device`. Of two back ends that measured the same point the faster counts: the other's time is its
// driver's. Throws Error(bad_data) at the row's place for a metric that is not in the list, an invalid value, and
// a point that one back end has twice.
void add_measurement(Device& device, record::Measurement const& row, record::Reader<record::Measurement> const& reader,
                     Trust trust);

}  // namespace kernelcast::device
