// What the parts of a device that all compute units share give at most: the second-level cache, the memory, atomics.
//
// The same rules for queue.hpp and ake/, with the constants of queue.hpp.
#pragma once

#include "models/queue.hpp"
#include "records/device/device.hpp"

namespace kernelcast::model {

// Of the memory, bytes per second: measured, else a part of what is stated.
double dram_bytes_per_s(device::Device const&, queue::Constants const& = {});
// Seconds that it takes for a byte, where a part of all that moves is written, 0 to 1: between the above, what was
// measured of copies, and what was measured of stores, none of which is faster than loads. Copies that were not
// measured take what loads and stores take, and no less than those of most devices.
double dram_s_per_byte(device::Device const&, double written, queue::Constants const& = {});

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
