// Measurements to a row of the device database, and that row against the one that is there.
#pragma once

#include <string>
#include <vector>

#include "measure/probe/probe.hpp"
#include "records/device.hpp"
#include "records/measurement.hpp"

namespace kernelcast::probe {

// What rows say about their device, for rows whose device is not at hand. Keeps only the rows of `device`; where that
// is empty they must be of one device. Throws Error(bad_data) where there is none or there are several.
Facts facts_from(std::vector<record::Measurement>& rows, std::string const& device);

// A row as devices.csv has it. Measured figures that are doubtful are left out; what no row tells stays empty. The
// columns of [automatch] Table I follow section III-A of that paper: cores are lanes on GPUs; the rate of a core is the
// achieved double-precision one; fast memory is the last cache of a CPU, shared memory and second-level cache of a GPU;
// its bandwidth and latency are the means over the levels on the chip; slow memory is what lies beyond; the barrier is
// the one at full occupancy.
record::Device summarise_device(std::vector<record::Measurement> const& rows, Facts const&);

// Column by column. Structure (units, lanes, limits, sizes) must be equal; a measured rate agrees when it is not above
// the stated peak and not under 60 % of it, a measured figure when it is within 20 %.
std::vector<record::DeviceDifference> compare(record::Device const& measured, record::Device const& stated);

}  // namespace kernelcast::probe
