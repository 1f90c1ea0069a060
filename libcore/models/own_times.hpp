// What a user's own measured times tell of a device: what a launch costs, its clock, its bandwidth, and how wrong
// projections then still are.
//
// Problem: the database has a device as its vendor states it; a system has its own launches, clocks and memory. Method:
// times that the default model says launches decide give the cost of a launch, those that memory decides the bandwidth,
// all others the clock: the median of what each of them needs to be right, of three or more, in this order. Where times
// of enough kernels are known, each kernel is left out in turn, the figures are made of the others, and the interval is
// that of the residuals left out (calibration.hpp), instead of the database's. Limits: devices that the queue models;
// one time changes a figure by four at most, or is not counted.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "models/queue.hpp"
#include "records/device/device.hpp"
#include "records/kernel.hpp"

namespace kernelcast::model {

// Of all launches of the row, seconds. The row outlives it.
struct OwnTime {
  record::Kernel const* row;
  double measured_s;
};

struct OwnFigure {
  double value = 0;
  std::size_t times = 0;
};

struct OwnDevice {
  device::Device device;
  queue::Options options;
  std::optional<OwnFigure> launch_s, bandwidth_bytes_per_s, clock_hz;
  std::size_t kernels = 0;  // that the interval is from; 0: it is the database's
};

// The device and the options to project with. Times that cannot be projected do not count.
OwnDevice learn(device::Device const&, std::vector<OwnTime> const&, queue::Options const&);

}  // namespace kernelcast::model
