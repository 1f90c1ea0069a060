#include "records/device.hpp"

#include <fmt/format.h>

namespace kernelcast::record {

namespace {

void add_identity(Schema<Device>& s) {
  s.column("device", &Device::device, Unit::none, "slug that names the device everywhere")
      .column("vendor", &Device::vendor, Unit::none, "who makes it")
      .column("name", &Device::name, Unit::none, "marketing name")
      .column("alias", &Device::alias, Unit::none, "other names, joined by ;")
      .may_be_empty()
      .column("architecture", &Device::architecture, Unit::none, "the vendor's name of the architecture")
      .column("kind", &Device::kind, Unit::none, "gpu or cpu")
      .column("target", &Device::target, Unit::none, "what a compiler calls it: sm_20, gfx600, cypress, x86-64")
      .column("occupancy_target", &Device::occupancy_target, Unit::none, "its row of occupancy.csv; empty for a CPU")
      .may_be_empty()
      .column("compute_units", &Device::compute_units, Unit::count, "multiprocessors, compute units or CPU cores")
      .column("schedulers_per_cu", &Device::schedulers_per_cu, Unit::count,
              "schedulers or SIMD engines of a compute unit")
      .column("clock_base_hz", &Device::clock_base_hz, Unit::hertz, "base clock of the arithmetic units")
      .column("clock_boost_hz", &Device::clock_boost_hz, Unit::hertz, "highest stated clock")
      .column("clock_hz", &Device::clock_hz, Unit::hertz, "clock at which a kernel usually runs, which models take");
}

void add_throughput(Schema<Device>& s) {
  s.column("lanes", &Device::lanes, Unit::count, "single-precision lanes of the device")
      .column("lanes_per_cu", &Device::lanes_per_cu, Unit::count, "single-precision lanes of a compute unit")
      .column("peak_fp32_flop_per_s", &Device::peak_fp32_flop_per_s, Unit::flop_per_s,
              "stated single-precision peak, a multiply-add being two")
      .column("peak_fp64_flop_per_s", &Device::peak_fp64_flop_per_s, Unit::flop_per_s, "stated double-precision peak")
      .column("peak_fp16_flop_per_s", &Device::peak_fp16_flop_per_s, Unit::flop_per_s,
              "stated half-precision peak; the notes say where it is a matrix rate");
  for (InstructionClass const c : values_of<InstructionClass>) {
    if (!has_unit(c)) continue;
    s.column(
        fmt::format("throughput_{}", name(c)), [c](Device& d) -> auto& { return d.throughput[c]; }, Unit::lanes,
        fmt::format("results of class {} per clock and compute unit{}; 0 when it has no such unit", name(c),
                    c == InstructionClass::fp16 ? ", both of a packed pair counted" : ""));
  }
  s.column("throughput_sync", &Device::throughput_sync, Unit::lanes, "barrier operations per clock and compute unit")
      .column("throughput_issue", &Device::throughput_issue, Unit::lanes,
              "lanes of instructions that a compute unit can issue per clock")
      .column("vliw_slots", &Device::vliw_slots, Unit::count, "operations of a VLIW bundle; empty on other devices");
}

void add_limits(Schema<Device>& s) {
  s.column("wave_width", &Device::wave_width, Unit::lanes, "work-items of a wavefront; SIMD lanes of a CPU core")
      .column("max_threads_per_cu", &Device::max_threads_per_cu, Unit::count, "most work-items on a compute unit")
      .column("max_waves_per_cu", &Device::max_waves_per_cu, Unit::count, "most wavefronts on a compute unit")
      .column("max_groups_per_cu", &Device::max_groups_per_cu, Unit::count, "most work-groups on a compute unit")
      .column("max_group_size", &Device::max_group_size, Unit::count, "most work-items of a work-group")
      .column("registers_per_cu", &Device::registers_per_cu, Unit::count, "32-bit registers of a compute unit")
      .column("max_registers_per_item", &Device::max_registers_per_item, Unit::count, "most registers of a work-item")
      .column("shared_per_cu_bytes", &Device::shared_per_cu_bytes, Unit::bytes, "shared memory of a compute unit")
      .column("shared_per_group_bytes", &Device::shared_per_group_bytes, Unit::bytes,
              "most shared memory of a work-group")
      .column("shared_banks", &Device::shared_banks, Unit::count, "banks of the shared memory")
      .column("shared_bank_bytes", &Device::shared_bank_bytes, Unit::bytes, "width of a bank")
      .column("shared_passes_per_cu_cycle", &Device::shared_passes_per_cu_cycle, Unit::none,
              "passes over all banks per clock and compute unit")
      .column("shared_fraction", &Device::shared_fraction, Unit::none,
              "part of the shared memory's peak that 4-byte words reach, for devices without a curve");
}

void add_memory(Schema<Device>& s) {
  s.column("l1_per_cu_bytes", &Device::l1_per_cu_bytes, Unit::bytes,
           "first-level data cache of a compute unit; 0 when it has none for global loads")
      .column("l2_bytes", &Device::l2_bytes, Unit::bytes, "second-level cache; of a CPU per core")
      .column("l3_bytes", &Device::l3_bytes, Unit::bytes, "third-level or memory-side cache")
      .optional_column(
          "l1_array_bytes", &Device::l1_array_bytes, Unit::bytes,
          "cache between first and second level that several compute units share; empty when there is none")
      .optional_column("l2_parts", &Device::l2_parts, Unit::count,
                       "equal parts of the second-level cache, of which a compute unit is near to one: partitions, "
                       "from which the others are reached over a longer way, or one for each die, which serves that "
                       "die alone (architectures CDNA3); empty is one")
      .column("memory_bytes", &Device::memory_bytes, Unit::bytes, "device memory")
      .column("memory_type", &Device::memory_type, Unit::none, "kind of memory")
      .may_be_empty()
      .column("memory_bus_bits", &Device::memory_bus_bits, Unit::count, "width of the memory bus in bits")
      .column("peak_bandwidth_bytes_per_s", &Device::peak_bandwidth_bytes_per_s, Unit::bytes_per_s,
              "stated memory bandwidth")
      .column("measured_bandwidth_bytes_per_s", &Device::measured_bandwidth_bytes_per_s, Unit::bytes_per_s,
              "measured bandwidth of coalesced reads at full occupancy")
      .column("l2_bandwidth_bytes_per_s", &Device::l2_bandwidth_bytes_per_s, Unit::bytes_per_s,
              "measured bandwidth of the second-level cache, all compute units together")
      .optional_column("l3_bandwidth_bytes_per_s", &Device::l3_bandwidth_bytes_per_s, Unit::bytes_per_s,
                       "measured bandwidth of the third-level or memory-side cache")
      .column("global_access_rule", &Device::global_access_rule, Unit::none,
              "how accesses become transactions; empty for a CPU")
      .column("global_latency_s", &Device::global_latency_s, Unit::seconds, "latency of an uncached global load")
      .optional_column("l1_latency_s", &Device::l1_latency_s, Unit::seconds, "latency of a load from the first level")
      .optional_column("l2_latency_s", &Device::l2_latency_s, Unit::seconds,
                       "the same from the second level; of several parts the near one")
      .optional_column("l3_latency_s", &Device::l3_latency_s, Unit::seconds, "the same from the third level")
      .column("link", &Device::link, Unit::none, "how it is attached to the host")
      .may_be_empty()
      .column("tdp_w", &Device::tdp_w, Unit::watts, "stated thermal design power");
}

void add_models(Schema<Device>& s) {
  s.column("automatch_cores", &Device::automatch_cores, Unit::count, "[automatch] n_p: cores or lanes")
      .column("automatch_flop_per_s", &Device::automatch_flop_per_s, Unit::flop_per_s,
              "[automatch] pi_0: double-precision rate of one of them")
      .column("automatch_fast_bytes", &Device::automatch_fast_bytes, Unit::bytes, "[automatch] Z: on-chip memory")
      .column("automatch_line_bytes", &Device::automatch_line_bytes, Unit::bytes, "[automatch] L: size of a message")
      .column("automatch_fast_bytes_per_s", &Device::automatch_fast_bytes_per_s, Unit::bytes_per_s,
              "[automatch] beta_f: bandwidth of the on-chip memory")
      .column("automatch_fast_latency_s", &Device::automatch_fast_latency_s, Unit::seconds,
              "[automatch] alpha_f: latency of the on-chip memory")
      .column("automatch_slow_bytes_per_s", &Device::automatch_slow_bytes_per_s, Unit::bytes_per_s,
              "[automatch] beta_s: bandwidth of the off-chip memory")
      .column("automatch_slow_latency_s", &Device::automatch_slow_latency_s, Unit::seconds,
              "[automatch] alpha_s: latency of the off-chip memory")
      .column("automatch_barrier_s", &Device::automatch_barrier_s, Unit::seconds,
              "[automatch] s_0: barrier over all threads")
      .column("perdome_flop_s", &Device::perdome_flop_s, Unit::seconds, "[perdome] Table 1: time of one operation")
      .column("perdome_byte_s", &Device::perdome_byte_s, Unit::seconds, "[perdome] Table 1: time of one byte");
}

void add_sources(Schema<Device>& s) {
  s.column("src_peak", &Device::src_peak, Unit::none, "source of units, clocks, peaks, memory and power")
      .column("src_throughput", &Device::src_throughput, Unit::none, "source of the throughputs")
      .may_be_empty()
      .column("src_limits", &Device::src_limits, Unit::none, "source of the occupancy limits, banks and access rule")
      .may_be_empty()
      .column("src_cache", &Device::src_cache, Unit::none, "source of the cache sizes and bandwidths")
      .may_be_empty()
      .column("src_measured", &Device::src_measured, Unit::none, "source of the measured bandwidth")
      .may_be_empty()
      .column("src_link", &Device::src_link, Unit::none, "source of the link")
      .may_be_empty()
      .column("src_latency", &Device::src_latency, Unit::none, "source of the global latency")
      .may_be_empty()
      .column("src_models", &Device::src_models, Unit::none, "source of the automatch_ and perdome_ columns")
      .may_be_empty()
      .column("assumed", &Device::assumed, Unit::none, "columns that are assumptions, each with its reason")
      .may_be_empty()
      .column("notes", &Device::notes, Unit::none, "what is doubtful or special")
      .may_be_empty();
}

}  // namespace

Schema<Device> const& Device::schema() {
  static auto const schema = [] {
    Schema<Device> s("device", "what is known about a device");
    add_identity(s);
    add_throughput(s);
    add_limits(s);
    add_memory(s);
    add_models(s);
    add_sources(s);
    return s;
  }();
  return schema;
}

Schema<DeviceSummary> const& DeviceSummary::schema() {
  static auto const schema =
      Schema<DeviceSummary>("device_summary", "a device in a line, and what is known of it by measurement")
          .column("device", &DeviceSummary::device, Unit::none, "slug that names the device everywhere")
          .column("name", &DeviceSummary::name, Unit::none, "marketing name")
          .column("architecture", &DeviceSummary::architecture, Unit::none, "the vendor's name of the architecture")
          .column("kind", &DeviceSummary::kind, Unit::none, "gpu or cpu")
          .column("memory_bytes", &DeviceSummary::memory_bytes, Unit::bytes, "device memory")
          .column("peak_bandwidth_bytes_per_s", &DeviceSummary::peak_bandwidth_bytes_per_s, Unit::bytes_per_s,
                  "stated bandwidth of the memory")
          .column("peak_fp32_flop_per_s", &DeviceSummary::peak_fp32_flop_per_s, Unit::flop_per_s,
                  "stated single-precision peak")
          .column("peak_fp64_flop_per_s", &DeviceSummary::peak_fp64_flop_per_s, Unit::flop_per_s,
                  "stated double-precision peak")
          .column("peak_fp16_flop_per_s", &DeviceSummary::peak_fp16_flop_per_s, Unit::flop_per_s,
                  "stated half-precision peak")
          .column("tdp_w", &DeviceSummary::tdp_w, Unit::watts, "stated thermal design power")
          .column("validated", &DeviceSummary::validated, Unit::none,
                  "what measured times have tested the default model on: device, architecture (another device of it) "
                  "or none")
          .column("measured", &DeviceSummary::measured, Unit::none,
                  "what the database has of it from measurements, joined by ;: bandwidth, curve (bandwidth over "
                  "occupancy), latency, launch, fp32")
          .may_be_empty()
          .column("assumed", &DeviceSummary::assumed, Unit::none,
                  "columns of devices.csv that are assumed, joined by ;")
          .may_be_empty();
  return schema;
}

Schema<OccupancyRule> const& OccupancyRule::schema() {
  using R = OccupancyRule;
  static auto const schema =
      Schema<R>("occupancy_rule", "limits and allocation granularity of an architecture")
          .column("target", &R::target, Unit::none, "name of the architecture")
          .column("vendor", &R::vendor, Unit::none, "NVIDIA or AMD")
          .column("wave_width", &R::wave_width, Unit::lanes, "work-items of a wavefront")
          .column("max_waves_per_cu", &R::max_waves_per_cu, Unit::count, "most wavefronts on a compute unit")
          .column("max_threads_per_cu", &R::max_threads_per_cu, Unit::count, "most work-items on a compute unit")
          .column("max_groups_per_cu", &R::max_groups_per_cu, Unit::count, "most work-groups on a compute unit")
          .column("max_groups_one_wave", &R::max_groups_one_wave, Unit::count,
                  "the same for groups of one wavefront, where that differs")
          .column("max_group_size", &R::max_group_size, Unit::count, "most work-items of a work-group")
          .column("registers_per_cu", &R::registers_per_cu, Unit::count, "32-bit registers of a compute unit")
          .column("registers_per_group", &R::registers_per_group, Unit::count,
                  "most registers of a work-group, where a limit of its own")
          .column("register_unit", &R::register_unit, Unit::count, "granularity of register allocation")
          .column("register_scope", &R::register_scope, Unit::none,
                  "to what registers are allotted; lane: vector registers, vec4: of 128 bits")
          .column("max_registers_per_item", &R::max_registers_per_item, Unit::count, "most registers of a work-item")
          .column("wave_granularity", &R::wave_granularity, Unit::count,
                  "wavefronts of a group are rounded up to this for the launch check")
          .column("subpartitions", &R::subpartitions, Unit::count, "parts of a compute unit with own registers")
          .column("registers_per_lane", &R::registers_per_lane, Unit::count,
                  "registers of one lane of a SIMD engine, scopes lane and vec4")
          .column("shared_per_cu_bytes", &R::shared_per_cu_bytes, Unit::bytes, "shared memory of a compute unit")
          .column("shared_per_group_bytes", &R::shared_per_group_bytes, Unit::bytes,
                  "most shared memory of a work-group")
          .column("shared_unit_bytes", &R::shared_unit_bytes, Unit::bytes, "granularity of shared-memory allocation")
          .column("shared_reserved_bytes", &R::shared_reserved_bytes, Unit::bytes,
                  "shared memory that the driver takes of each work-group")
          .column("shared_configurations", &R::shared_configurations, Unit::none,
                  "sizes in bytes to which the shared memory can be set, joined by ;")
          .may_be_empty()
          .optional_column("max_grid_x", &R::max_grid_x, Unit::count, "most work-groups of a launch along x")
          .optional_column("max_grid_y", &R::max_grid_y, Unit::count, "most work-groups of a launch along y")
          .optional_column("max_grid_z", &R::max_grid_z, Unit::count, "most work-groups of a launch along z")
          .column("source", &R::source, Unit::none, "where the figures come from")
          .column("assumed", &R::assumed, Unit::none, "columns that are assumptions, each with its reason")
          .may_be_empty()
          .column("notes", &R::notes, Unit::none, "what is doubtful or special")
          .may_be_empty();
  return schema;
}

Schema<PipeRule> const& PipeRule::schema() {
  using R = PipeRule;
  static auto const schema =
      Schema<R>("pipe_rule", "what an issue slot of a pipe keeps busy on an architecture")
          .column("target", &R::target, Unit::none, "names of the architectures, as devices have them, joined by ;")
          .column("pipe", &R::pipe, Unit::none, "the pipe, as in the columns slots_<pipe> of kernels")
          .column("station", &R::station, Unit::none, "what it keeps busy")
          .column("throughput", &R::throughput, Unit::none, "the class of whose throughput the device's figure counts")
          .column("results", &R::results, Unit::none, "results of each lane that this figure counts")
          .column("source", &R::source, Unit::none, "where this comes from");
  return schema;
}

Schema<ConstantRule> const& ConstantRule::schema() {
  using R = ConstantRule;
  static auto const schema =
      Schema<R>("constant_rule", "a constant of the queue model on an architecture, where it is another")
          .column("target", &R::target, Unit::none, "names of the architectures, as devices have them, joined by ;")
          .column("constant", &R::constant, Unit::none, "its name, as perfcast --constants lists it")
          .column("value", &R::value, Unit::none, "in the constant's unit")
          .column("source", &R::source, Unit::none, "where this comes from, or what it was chosen on");
  return schema;
}

Schema<LibraryRule> const& LibraryRule::schema() {
  using R = LibraryRule;
  static auto const schema =
      Schema<R>("library_rule", "a figure about an operation of a library")
          .column("target", &R::target, Unit::none,
                  "names of the architectures, as devices have them, joined by ;; empty: all others")
          .may_be_empty()
          .column("operation", &R::operation, Unit::none, "as the column library of kernels begins; empty: all others")
          .may_be_empty()
          .column("type", &R::type, Unit::none, "the type of its numbers; empty: all others")
          .may_be_empty()
          .column("figure", &R::figure, Unit::none, "what it is, see README.md")
          .column("value", &R::value, Unit::none, "in the figure's unit")
          .column("source", &R::source, Unit::none, "where this comes from, or what it was chosen on");
  return schema;
}

Schema<MatrixRule> const& MatrixRule::schema() {
  using R = MatrixRule;
  static auto const schema =
      Schema<R>("matrix_rule", "how fast a compute unit multiplies matrices, at most")
          .column("target", &R::target, Unit::none,
                  "names of the architectures, as devices have them, or of single devices, which count before them, "
                  "joined by ;")
          .column("kind", &R::kind, Unit::none,
                  "instruction, type of the factors, type of the sums, joined by /, as column matrix_flop of kernels "
                  "has it; several joined by ;")
          .column("flop_per_cycle", &R::flop_per_cycle, Unit::none,
                  "operations per clock and compute unit, two for each multiply-add; of sparse products those with "
                  "zeros count; empty: it has the instruction, and its rate is not known")
          .column("source", &R::source, Unit::none, "where this comes from");
  return schema;
}

Schema<HostLink> const& HostLink::schema() {
  using L = HostLink;
  static auto const schema =
      Schema<L>("host_link", "what copies between host and device reach over a kind of link")
          .column("link", &L::link, Unit::none, "as column link of devices begins, before its lanes")
          .column("lane_bytes_per_s", &L::lane_bytes_per_s, Unit::bytes_per_s,
                  "what a lane carries in one direction after its line code; of a link without lanes all of it")
          .column("to_device_part", &L::to_device_part, Unit::none,
                  "of that, what copies of pinned memory to the device reach")
          .column("to_host_part", &L::to_host_part, Unit::none, "the same of copies to the host")
          .column("reached_low", &L::reached_low, Unit::none,
                  "the least of nine in ten machines, over that, in a slot with all of the device's lanes")
          .column("reached_high", &L::reached_high, Unit::none, "the most of them")
          .column("slot_low", &L::slot_low, Unit::none,
                  "rate of the slowest slot that such devices were seen in, over that of their own lanes")
          .column("staging_bytes_per_s", &L::staging_bytes_per_s, Unit::bytes_per_s,
                  "how fast pageable memory gets into the driver's pinned buffer or out of it, which comes before or "
                  "after the link")
          .column("staging_low_bytes_per_s", &L::staging_low_bytes_per_s, Unit::bytes_per_s,
                  "the least of nine in ten machines")
          .column("staging_high_bytes_per_s", &L::staging_high_bytes_per_s, Unit::bytes_per_s, "the most of them")
          .column("fault_bytes_per_s", &L::fault_bytes_per_s, Unit::bytes_per_s,
                  "where a kernel's faults move managed memory; empty: the device reads it where it is")
          .column("fault_low_bytes_per_s", &L::fault_low_bytes_per_s, Unit::bytes_per_s,
                  "the least of nine in ten machines")
          .column("fault_high_bytes_per_s", &L::fault_high_bytes_per_s, Unit::bytes_per_s, "the most of them")
          .column("latency_s", &L::latency_s, Unit::seconds, "a copy of a few bytes, as the host sees it")
          .column("source", &L::source, Unit::none, "where the figures come from")
          .column("assumed", &L::assumed, Unit::none, "which columns are assumptions, each with its reason")
          .may_be_empty();
  return schema;
}

Schema<Alias> const& Alias::schema() {
  static auto const schema = Schema<Alias>("alias", "what another data set calls a device")
                                 .column("data_set", &Alias::data_set, Unit::none, "the other data set")
                                 .column("name", &Alias::name, Unit::none, "its name for the device")
                                 .column("device", &Alias::device, Unit::none, "slug of the device");
  return schema;
}

}  // namespace kernelcast::record
