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
//    ceil(groups / units) groups of each launch. t_global has whole rounds of resident groups.
//  - Bandwidth from a curve of several points: at the occupancy of the resident groups, over all units, the last round
//    at its own, for what is fetched the first time; and all at the bandwidth of full occupancy. Else: what is measured
//    at full occupancy, or measured_fraction of the peak, but a round of resident groups takes as long as one
//    work-item: its waits for memory times the latency (fetches that hit a cache do not wait), and its own
//    instructions one after the other. This is the saturation min(1, bytes in flight / (latency x bandwidth)) with
//    whole rounds. Waits are counted by the emulator; a record without them takes item_bytes_in_flight.
//  - Instructions without a unit of their own (memory, control, other) take an issue slot; AMD's units start them
//  beside
//    arithmetic, of other wavefronts [gcn], [evergreen], so that the slowest kind counts. On compute capability 1.x an
//    operand from shared memory costs an instruction half of its time again [volkov]. A class whose throughput is not
//    known takes that of the class on the same unit; the reason says so.
//  - VLIW: a bundle holds vliw_ops_per_bundle operations, but at most one on shared memory and one of those of which
//  the
//    device makes no more per clock than it starts bundles. Where the packing is not known it is the middle, and the
//    interval spans all.
//  - Bank conflicts of a wavefront of 64 are those of its halves [evergreen].
//  - A device that boosts by itself and was measured above its peak holds the clock that this takes.
//  - Registers come from a compiler for another device of the vendor; above the device's limit they are spilled.
//  - Local (private) memory is global traffic where there is no data cache, else it widens the interval upwards.
//  - Atomics are a load and a store of the smallest transaction each (shared: a pass per bank-full of lanes).
//    Textures are loads of which each byte is moved once.
//  - time_low_s: when the sectors that resident groups touch (at least their part of all distinct ones) fit into the
//    second-level cache, each is fetched once per launch from memory, or once at all when all fit; the rest comes at
//    the cache's bandwidth, or at no cost where that is not known. When not all groups were emulated both ends are
//    widened by twice the sampling error, or by the spread between the emulated groups where that is not known.
//  - Launches cost nothing, as in the paper, unless Options::launch_cost says what each does:
//    time = max(...) + launches x cost. What the database has measured (launch_delay_s) is for times that are taken
//    from submission on.
// Not modelled, as in the paper: transfers between host and device, waiting at barriers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "records/device/device.hpp"
#include "records/explanation.hpp"
#include "records/kernel.hpp"
#include "records/projection.hpp"
#include "records/table/table.hpp"

namespace kernelcast::model::panwar {

inline constexpr char const* model_name = "panwar";

// Part of the stated peak that coalesced accesses reach, for devices without a measurement: the median of the others.
inline constexpr double measured_fraction = 0.85;
// Bytes that a work-item has under way where its waits were not counted: four independent loads of 4 bytes, which
// compilers reach by unrolling. Assumed.
inline constexpr double item_bytes_in_flight = 16;
// Latency of a global load where the database has none. Assumed; those that it has lie between 250 and 710 ns.
inline constexpr double default_latency_s = 400e-9;

enum class Clock { usual, base, boost };           // usual: clock_hz, at which the device runs a kernel by default
inline Clock clock_named(std::string_view name) {  // other names mean the default
  return name == "base" ? Clock::base : name == "boost" ? Clock::boost : Clock::usual;
}

struct Options {
  Clock clock = Clock::usual;
  std::optional<double> clock_hz = {};  // of the compute units, in the place of `clock`
  device::LaunchCost launch_cost = {};
  // Without: clock, occupancy, registers and the refusals, for a model with terms of its own; no times, no notes.
  bool terms = true;
};

// What is on the way to a projection; times in seconds, of all launches together.
struct Quantities {
  double clock_hz = 0;
  std::optional<std::uint64_t> registers;  // per work-item, as used
  std::string_view registers_source;       // column of the kernel record
  device::Occupancy occupancy;
  double groups_per_launch = 0, rounds = 0, units_used = 0;
  double global_read_bytes = 0, global_write_bytes = 0;  // moved, after coalescing
  double global_read_bytes_per_s = 0, global_write_bytes_per_s = 0;
  double saturation = 1;  // part of that bandwidth which the resident groups can ask for
  double shared_passes = 0;
  double shared_read_bytes_per_s = 0, shared_write_bytes_per_s = 0;
};
struct Terms : Quantities {
  record::Projection projection;
};

// Pure. Never throws for a kernel that does not fit or a device about which too little is known: the projection then
// has a status and a reason instead of times.
Terms explain(record::Kernel const&, device::Device const&, Options const& = {});
// The same in these, whatever they held: for many projections, whose texts then need no new memory.
void explain(record::Kernel const&, device::Device const&, Options const&, Quantities&, record::Projection&);
inline record::Projection project(record::Kernel const& kernel, device::Device const& device,
                                  Options const& options = {}) {
  return explain(kernel, device, options).projection;
}

// With everything on the way to it, for people.
record::Explanation explanation(Terms const&);

// Throws Error(bad_data), with the column, for a row that no launch can have.
void check(record::Reader<record::Kernel> const&, record::Kernel const&);

}  // namespace kernelcast::model::panwar
