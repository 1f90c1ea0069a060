// What the parts of a device that all compute units share give at most: the second-level cache, the memory, atomics.
//
// The same rules for queue.hpp and ake/, with the constants of queue.hpp.
#pragma once

#include "device/device.hpp"
#include "model/queue.hpp"

namespace kernelcast::model {

// Of the memory, bytes per second: measured, else a part of what is stated.
double dram_bytes_per_s(device::Device const&, queue::Constants const& = {});

// Of the second-level cache, all units together, bytes per second: measured at the device's usual clock, else so much
// a clock for each 32-bit channel of the memory, and not less than the memory gives.
double l2_bytes_per_s(device::Device const&, double clock_hz, queue::Constants const& = {});

// The least seconds that the global atomics of a launch take: the updates of its busiest address take turns, and the
// sectors of all its atomic requests pass the second-level cache. `same_address` updates, `sectors` of all groups.
double global_atomics_s(double same_address, double sectors, double clock_hz, queue::Constants const& = {});

}  // namespace kernelcast::model
