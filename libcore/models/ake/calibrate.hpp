// Measurements of a device to its rows of devdb/latgap.csv.
//
// latency_cycles and gap_cycles of a class become that class's figures; shared_latency_cycles the latency of shared
// memory; load_latency_cycles that of the level which the working set fits, by the database's cache sizes; the highest
// coalesced bandwidth of reads the gap of a line of 128 bytes from device memory, with all units active, and
// cache_bandwidth_bytes_per_s the same for the level.
#pragma once

#include <vector>

#include "records/device/device.hpp"
#include "records/latency_gap.hpp"
#include "records/measurement.hpp"

namespace kernelcast::model::ake {

// Rows for the device alone (measured_on is its slug), by class. Measurements of other devices, and those that are not
// ok, are left out; so are metrics that say nothing of latencies and gaps.
std::vector<record::LatencyGap> calibrate(std::vector<record::Measurement> const&, device::Device const&);

}  // namespace kernelcast::model::ake
