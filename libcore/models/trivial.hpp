// Predictors that anyone could make without a model: what a model has to beat.
#pragma once

#include <vector>

#include "records/device/device.hpp"
#include "records/kernel.hpp"
#include "records/projection.hpp"

namespace kernelcast::model::trivial {

// Seconds that a launch costs when nothing else is known: of the public figures for CUDA, between the 2 us of a launch
// that follows another and the 7 us of one from an idle host.
inline constexpr double launch_s = 5e-6;

// One projection each, in this order; what a device or kernel lacks makes that one unknown.
//   trivial:launches       launch_s for each launch
//   trivial:bytes          distinct bytes (global_footprint_bytes) over the measured, else 0.85 of the stated bandwidth
//   trivial:roofline       the larger of trivial:bytes and the fp32 instructions (two operations each) over the stated
//                          peak
//   trivial:instructions   wavefront instructions over what all compute units issue
//   order:occupancy        1 / occupancy in seconds: the order of configurations only
std::vector<record::Projection> project(record::Kernel const&, device::Device const&);

}  // namespace kernelcast::model::trivial
