// The model of [panwar]: a kernel takes as long as the slowest of three parts of the device that work side by side.
//
//   time      = max(t_compute, t_global, t_shared)                                        [panwar] IV-D; seconds
//   t_compute = sum over classes of issues / (throughput x compute units x clock)
//   t_global  = sum over loads, stores of transactions x bytes / bandwidth(occupancy)
//   t_shared  = sum over loads, stores of passes x bytes of a pass / bandwidth(occupancy)
//
// Issues, transactions and passes are those of the device's own wavefront width, access rule and banks.
//
// Decisions where the paper is silent:
//  - Few groups and the tail: t_compute and t_shared are those of the busiest compute unit, which runs
//    ceil(groups / units) groups of each launch. t_global is at least (rounds of resident groups) x (time of one round
//    bound by latency), which is the saturation min(1, bytes in flight / (latency x bandwidth)) with whole rounds.
//  - Instructions without a unit of their own (memory, control, other) take an issue slot.
//  - VLIW: issues / operations per bundle; operations of which a bundle holds one bound the bundles from below.
//  - Local (private) memory is global traffic where there is no data cache, else it widens the interval upwards.
//  - Atomics are a load and a store of the smallest transaction each (shared: a pass per bank-full of lanes).
//  - time_low_s: when the sectors that resident groups touch fit into the second-level cache, each sector is fetched
//    once from memory, and the rest comes at the cache's bandwidth where it is known. Both ends are widened by the
//    spread between emulated groups when not all were emulated.
// Not modelled, as in the paper: launch overhead, transfers between host and device, barriers' waiting times.
#pragma once

#include <optional>
#include <string>

#include "device/device.hpp"
#include "record/kernel.hpp"
#include "record/projection.hpp"

namespace kernelcast::model::panwar {

inline constexpr char const* model_name = "panwar";

enum class Clock { usual, base, boost };  // usual: clock_hz, what the device runs a kernel at unless told otherwise

struct Options {
  Clock clock = Clock::usual;
};

// Everything on the way to a projection; times in seconds, of all launches together.
struct Terms {
  record::Projection projection;
  double clock_hz = 0;
  std::optional<double> registers;  // per work-item, as used
  std::string registers_source;     // column of the kernel record
  device::Occupancy occupancy;
  double groups_per_launch = 0, rounds = 0, units_used = 0;
  double global_read_bytes = 0, global_write_bytes = 0;  // moved, after coalescing
  double global_read_bytes_per_s = 0, global_write_bytes_per_s = 0;
  double saturation = 1;
  double shared_read_passes = 0, shared_write_passes = 0;
};

// Pure. Never throws for a kernel that does not fit or a device about which too little is known: the projection then
// has a status and a reason instead of times.
Terms explain(record::Kernel const&, device::Device const&, Options const& = {});
inline record::Projection project(record::Kernel const& kernel, device::Device const& device,
                                  Options const& options = {}) {
  return explain(kernel, device, options).projection;
}

}  // namespace kernelcast::model::panwar
