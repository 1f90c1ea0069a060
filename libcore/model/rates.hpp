// What the parts of a device that all compute units share give at most: the second-level cache, the memory, atomics.
//
// The same rules for queue.hpp and ake/, with the constants of queue.hpp.
#pragma once

#include "device/device.hpp"
#include "model/queue.hpp"

namespace kernelcast::model {

// Of the memory, bytes per second: measured, else a part of what is stated.
double dram_bytes_per_s(device::Device const&, queue::Constants const& = {});
// The same of stores: the highest measured, and not more than the above.
double dram_write_bytes_per_s(device::Device const&, queue::Constants const& = {});

// Of the second-level cache, all units together, bytes per second: measured at the device's usual clock, else so much
// a clock for each 32-bit channel of the memory, and not less than the memory gives.
double l2_bytes_per_s(device::Device const&, double clock_hz, queue::Constants const& = {});

// The global atomics of a launch: updates of its busiest address; of all requests the distinct lines, and the lanes
// that update 8 bytes or more; the distinct bytes that they update.
struct Atomics {
  double same_address = 0, lines = 0, wide_lanes = 0, bytes = 0;
};
// The least seconds that they take: the updates of an address take turns, and a part of the second-level cache takes
// one line of a request after the other. Neighbouring memory is of one part.
double global_atomics_s(Atomics const&, device::Device const&, double clock_hz, queue::Constants const& = {});

}  // namespace kernelcast::model
