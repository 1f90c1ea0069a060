// The records of the device database: devices, allocation limits per architecture, aliases. (What is
// measured about a device is a `measurement`.)
//
// An empty cell is a figure that no source states; a 0 is a known zero (the C1060 has no data cache). The column
// `assumed` names the columns whose figures are assumptions, each with its reason: "column: reason; column: reason".
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "records/instruction_class.hpp"
#include "records/pipe.hpp"
#include "records/queue.hpp"
#include "records/table/schema.hpp"
#include "records/vocabulary.hpp"

namespace kernelcast::record {

struct Device {
  using Count = std::optional<std::uint64_t>;
  using Number = std::optional<double>;

  std::string device, vendor, name, alias, architecture, kind, target, occupancy_target;
  Count compute_units, schedulers_per_cu;
  Number clock_base_hz, clock_boost_hz, clock_hz;
  Count lanes, lanes_per_cu;
  Number peak_fp32_flop_per_s, peak_fp64_flop_per_s, peak_fp16_flop_per_s;
  PerUnitClass<Number> throughput;  // results per clock and compute unit
  Number throughput_sync, throughput_issue;
  Count vliw_slots;
  Count wave_width, max_threads_per_cu, max_waves_per_cu, max_groups_per_cu, max_group_size;
  Count registers_per_cu, max_registers_per_item;
  Count shared_per_cu_bytes, shared_per_group_bytes, shared_banks, shared_bank_bytes;
  Number shared_passes_per_cu_cycle, shared_fraction;
  Number l1_per_cu_bytes, l2_bytes, l3_bytes, l1_array_bytes, memory_bytes;
  Count l2_parts;
  std::string memory_type;
  Count memory_bus_bits;
  Number peak_bandwidth_bytes_per_s, measured_bandwidth_bytes_per_s, l2_bandwidth_bytes_per_s;
  Number l3_bandwidth_bytes_per_s;
  std::optional<AccessRule> global_access_rule;
  Number global_latency_s, l1_latency_s, l2_latency_s, l3_latency_s;
  std::string link;
  Number tdp_w;
  Number automatch_cores, automatch_flop_per_s, automatch_fast_bytes, automatch_line_bytes;
  Number automatch_fast_bytes_per_s, automatch_fast_latency_s, automatch_slow_bytes_per_s, automatch_slow_latency_s;
  Number automatch_barrier_s;
  Number perdome_flop_s, perdome_byte_s;
  std::string src_peak, src_throughput, src_limits, src_cache, src_measured, src_link, src_latency, src_models;
  std::string assumed, notes;

  static Schema<Device> const& schema();
};

// A device in a line, and what is known of it by measurement.
struct DeviceSummary {
  std::string device, name, architecture, kind;
  std::optional<double> memory_bytes, peak_bandwidth_bytes_per_s;
  std::optional<double> peak_fp32_flop_per_s, peak_fp64_flop_per_s, peak_fp16_flop_per_s;
  std::optional<double> tdp_w;
  std::string validated, measured, assumed;

  static Schema<DeviceSummary> const& schema();
};

// Limits and allocation granularity of one architecture.
struct OccupancyRule {
  using Count = std::optional<std::uint64_t>;

  std::string target, vendor;
  Count wave_width, max_waves_per_cu, max_threads_per_cu, max_groups_per_cu, max_groups_one_wave, max_group_size;
  Count registers_per_cu, registers_per_group, register_unit;
  RegisterScope register_scope = RegisterScope::wave;
  Count max_registers_per_item, wave_granularity, subpartitions, registers_per_lane;
  Count shared_per_cu_bytes, shared_per_group_bytes, shared_unit_bytes, shared_reserved_bytes;
  Count max_grid_x, max_grid_y, max_grid_z;
  std::string shared_configurations, source, assumed, notes;

  static Schema<OccupancyRule> const& schema();
};

// What an issue slot of a pipe keeps busy on an architecture: a station of the compute unit, for 32 lanes over the
// device's throughput of a class, each with so many results.
struct PipeRule {
  std::string target;  // as of `device`; several joined by ;
  Pipe pipe = Pipe::fp32;
  Station station = Station::fp32;
  InstructionClass throughput = InstructionClass::fp32;  // one that has a unit
  double results = 1;
  std::string source;

  static Schema<PipeRule> const& schema();
};

// A constant of the queue model on an architecture, where it differs from that of all devices.
struct ConstantRule {
  std::string target;  // as of `device`; several joined by ;
  std::string constant;
  double value = 0;
  std::string source;

  static Schema<ConstantRule> const& schema();
};

// A figure about an operation of a library (column `library` of kernels), on all architectures and types unless it
// names them. Those that there are: models/libraries.hpp.
struct LibraryRule {
  std::string target;  // as of `device`; several joined by ;
  std::string operation, type, figure;
  double value = 0;
  std::string source;

  static Schema<LibraryRule> const& schema();
};

// How fast a compute unit multiplies matrices, at most. A kind of product that an architecture has no row of, it does
// not have.
struct MatrixRule {
  std::string target;  // as of `device`, or a device's slug, which counts before it; several joined by ;
  std::string kind;    // as kernels have it (column matrix_flop); several joined by ;
  std::optional<double> flop_per_cycle;  // empty: it has the instruction, and its rate is not known
  std::string source;

  static Schema<MatrixRule> const& schema();
};

// What copies between host and device reach over a kind of link, on machines that are not known.
struct HostLink {
  std::string link;  // as column link of devices begins, before its lanes
  double lane_bytes_per_s = 0;
  double to_device_part = 0, to_host_part = 0;  // of that rate, which copies of pinned memory reach
  double reached_low = 1, reached_high = 1;     // times that, in a slot with all of the device's lanes
  double slot_low = 1;                          // the slowest slot that the device may sit in, of its own
  double staging_bytes_per_s = 0, staging_low_bytes_per_s = 0,
         staging_high_bytes_per_s = 0;  // into the driver's buffer
  // Where a kernel's faults move managed memory; none where nothing moves.
  std::optional<double> fault_bytes_per_s, fault_low_bytes_per_s, fault_high_bytes_per_s;
  double latency_s = 0;  // of a copy of next to nothing
  std::string source, assumed;

  static Schema<HostLink> const& schema();
};

// What another data set calls a device.
struct Alias {
  std::string data_set, name, device;

  static Schema<Alias> const& schema();
};

}  // namespace kernelcast::record
