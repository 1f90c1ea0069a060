#include "records/measurement.hpp"

#include <array>
#include <ostream>

namespace kernelcast::record {

namespace {

constexpr std::array<Metric, 38> all_metrics{{
    {"peak_flop_per_s", Unit::flop_per_s,
     "floating-point operations per second of class fp32, fp64 or fp16; variant fma (a multiply-add counts two), "
     "add_mul "
     "(as many additions as multiplications)"},
    {"peak_op_per_s", Unit::none, "results per second of an integer, special, convert or logic class"},
    {"global_bandwidth_bytes_per_s", Unit::bytes_per_s,
     "bytes that work-items ask for per second from memory beyond the caches, over occupancy, word size and access"},
    {"cache_bandwidth_bytes_per_s", Unit::bytes_per_s,
     "the same over a working set that lies in a cache; variant l1, l2, l3: in that one; over growing sets, which "
     "leave "
     "the caches one by one, variant stream (groups repeat the set), turns (groups read sets in turn), same (all "
     "compute "
     "units read the same data at the same time)"},
    {"shared_bandwidth_bytes_per_s", Unit::bytes_per_s,
     "the same from shared memory; access stride<k> is a conflict of degree k on power-of-two strides"},
    {"texture_bandwidth_bytes_per_s", Unit::bytes_per_s, "the same through image reads"},
    {"constant_bandwidth_bytes_per_s", Unit::bytes_per_s,
     "the same from constant memory; coalesced: one address for all work-items of a wavefront"},
    {"load_latency_s", Unit::seconds, "time of a dependent load, by a random cycle through the working set"},
    {"load_latency_cycles", Unit::cycles, "the same in clocks of the device"},
    {"load_gap_cycles", Unit::cycles,
     "clocks of a compute unit per load of 32 work-items that hits a cache; variant says which one"},
    {"shared_latency_cycles", Unit::cycles, "clocks of a dependent load from shared memory"},
    {"cache_capacity_bytes", Unit::bytes, "data that a cache holds, found where the latency rises; variant l1, l2, l3"},
    {"cache_line_bytes", Unit::bytes, "distance from which two loads no longer share a transfer"},
    {"atomic_op_per_s", Unit::none,
     "atomic additions per second; variant same (one address), distinct (an address each), shared (one in shared "
     "memory)"},
    {"launch_s", Unit::seconds, "from the call that starts an empty kernel to its end as the host sees it"},
    {"launch_delay_s", Unit::seconds, "from the submission of a kernel to its start, by the driver's own clock"},
    {"launch_throughput_s", Unit::seconds,
     "time per launch where many kernels are queued, empty ones or as variant says: in a graph (launched as a whole), "
     "copies (of the working set), copies in a graph"},
    {"compile_s", Unit::seconds, "compiling one small kernel from source, caches of the driver avoided"},
    {"copy_bandwidth_bytes_per_s", Unit::bytes_per_s,
     "bytes copied per second, each counted once; variant says from where to where, pinned or pageable, alone or "
     "concurrent"},
    {"copy_latency_s", Unit::seconds, "time of the smallest copy"},
    {"copy_row_s", Unit::seconds, "what each row adds to the time of a two-dimensional copy with gaps"},
    {"barrier_s", Unit::seconds,
     "global barrier at full occupancy; variant host (kernels launched one after the other, four groups of 32x32 on "
     "each unit), threads (one thread on each logical core), grid or counter (within a kernel, of the runtime or by an "
     "atomic counter, with a copy of the working set before each)"},
    {"latency_cycles", Unit::cycles, "clocks from one instruction of `class` to the next that needs its result"},
    {"gap_cycles", Unit::cycles,
     "clocks of a compute unit per wavefront instruction of `class` in independent streams; on CPUs per instruction of "
     "a core"},
    {"clock_hz", Unit::hertz, "clock of the compute units under load"},
    {"compute_units", Unit::count, "stated, not measured: multiprocessors, compute units or cores"},
    {"compute_capability", Unit::count, "stated: of a CUDA device, ten times the major version and the minor one"},
    {"lanes_per_cu", Unit::count, "stated: single-precision lanes of a compute unit"},
    {"threads_per_cu", Unit::count, "stated: most resident work-items of a compute unit; on CPUs its logical cores"},
    {"wave_width", Unit::count, "stated: work-items of a wavefront"},
    {"max_group_size", Unit::count, "stated: most work-items of a work-group"},
    {"shared_per_group_bytes", Unit::bytes, "stated: shared memory that a work-group may have"},
    {"shared_per_cu_bytes", Unit::bytes, "stated: shared memory of a compute unit"},
    {"registers_per_cu", Unit::count, "stated: 32-bit registers of a compute unit"},
    {"memory_bytes", Unit::bytes, "stated: memory of the device"},
    {"stated_cache_bytes", Unit::bytes,
     "stated: last-level cache of the whole device; variant l1, l2, l3: one cache of that level"},
    {"stated_clock_hz", Unit::hertz, "stated: highest clock"},
    {"stated_bandwidth_bytes_per_s", Unit::bytes_per_s, "stated: memory clock times width of the bus"},
}};

}  // namespace

std::span<Metric const> metrics() {
  return all_metrics;
}

Metric const* find_metric(std::string_view name) {
  for (auto const& metric : all_metrics)
    if (metric.name == name) return &metric;
  return nullptr;
}

void describe_metrics(std::ostream& out) {
  for (auto const& metric : all_metrics)
    out << '*' << scdoc_escaped(metric.name) << "* (" << symbol(metric.unit) << ")\n\t" << scdoc_escaped(metric.meaning)
        << '\n';
}

Schema<Measurement> const& Measurement::schema() {
  static auto const schema = [] {
    Schema<Measurement> s("measurement", "a metric of a device, measured at one point");
    s.column("device", &Measurement::device, Unit::none, "slug of the device, as in the device database")
        .column("backend", &Measurement::backend, Unit::none, "opencl, cuda, hip or cpu")
        .may_be_empty()
        .column("metric", &Measurement::metric, Unit::none, "what was measured, from the closed list below")
        .column("access", &Measurement::access, Unit::none,
                "coalesced, stride<k> (every k-th word, 0: one for all), block<k> (k neighbouring words of each row of "
                "a matrix) or random; "
                "empty where it makes no difference")
        .may_be_empty()
        .column("direction", &Measurement::direction, Unit::none,
                "read, write, copy (a store for each load) or triad (a store for three loads); empty where it makes no "
                "difference")
        .may_be_empty()
        .column("word_bytes", &Measurement::word_bytes, Unit::bytes, "bytes that a work-item moves at a time")
        .column("occupancy", &Measurement::occupancy, Unit::none,
                "resident wavefronts over the most that fit, by the occupancy rules; on CPUs cores in use over all")
        .column("working_set_bytes", &Measurement::working_set_bytes, Unit::bytes, "distinct bytes that are touched")
        .column("value", &Measurement::value, Unit::none,
                "median of the samples; its unit ends the metric's name; empty when nothing was measured")
        .column("mad", &Measurement::mad, Unit::none, "median absolute deviation of the samples")
        .column("ci_low", &Measurement::ci_low, Unit::none, "lower end of the median's 95 % interval, by bootstrap")
        .column("ci_high", &Measurement::ci_high, Unit::none, "upper end of that interval")
        .column("samples", &Measurement::samples, Unit::count, "how many samples were taken")
        .column("status", &Measurement::status, Unit::none,
                "doubtful where it was measured but is not plausible, unsupported where the device cannot do it")
        .among({RowStatus::ok, RowStatus::doubtful, RowStatus::failed, RowStatus::unsupported})
        .column("reason", &Measurement::reason, Unit::none, "why the status is not ok")
        .may_be_empty()
        .optional_column("class", &Measurement::item_class, Unit::none, "instruction class, where there is one")
        .may_be_empty()
        .optional_column("variant", &Measurement::variant, Unit::none, "what else tells rows of one metric apart")
        .may_be_empty()
        .optional_column("outliers", &Measurement::outliers, Unit::count,
                         "samples more than 5 MAD from the median; they are kept")
        .optional_column("clock_hz", &Measurement::clock_hz, Unit::hertz, "clock during the measurement")
        .optional_column("other_load_pct", &Measurement::other_load_pct, Unit::percent,
                         "part of the host's processor time that other programs used meanwhile")
        .optional_column("source", &Measurement::source, Unit::none,
                         "program, driver and date, or the data set that the row comes from")
        .may_be_empty();
    return s;
  }();
  return schema;
}

Schema<ProbedDevice> const& ProbedDevice::schema() {
  static auto const schema = [] {
    Schema<ProbedDevice> s("probed_device", "a device of this machine");
    s.column("spec", &ProbedDevice::spec, Unit::none, "what --device takes")
        .column("device", &ProbedDevice::device, Unit::none, "slug of the device database, or one made from the name")
        .column("backend", &ProbedDevice::backend, Unit::none, "opencl, cuda or cpu")
        .column("kind", &ProbedDevice::kind, Unit::none, "gpu, cpu or accelerator")
        .column("name", &ProbedDevice::name, Unit::none, "what the driver calls it")
        .column("vendor", &ProbedDevice::vendor, Unit::none, "who makes it, or the driver")
        .may_be_empty()
        .column("driver", &ProbedDevice::driver, Unit::none, "driver and its version")
        .may_be_empty()
        .column("compute_units", &ProbedDevice::compute_units, Unit::count, "multiprocessors, compute units or cores")
        .column("clock_hz", &ProbedDevice::clock_hz, Unit::hertz, "highest clock that the driver states")
        .column("memory_bytes", &ProbedDevice::memory_bytes, Unit::bytes, "memory of the device")
        .column("status", &ProbedDevice::status, Unit::none, "whether it can be probed")
        .among({RowStatus::ok, RowStatus::unusable})
        .column("reason", &ProbedDevice::reason, Unit::none, "why the status is not ok")
        .may_be_empty();
    return s;
  }();
  return schema;
}

Schema<DeviceDifference> const& DeviceDifference::schema() {
  static auto const schema = [] {
    Schema<DeviceDifference> s("device_difference", "a figure of the device database beside the measured one");
    s.column("device", &DeviceDifference::device, Unit::none, "slug of the device")
        .column("column", &DeviceDifference::column, Unit::none, "column of devices.csv")
        .column("stated", &DeviceDifference::stated, Unit::none, "what the database says")
        .column("measured", &DeviceDifference::measured, Unit::none, "what was measured")
        .column("difference_pct", &DeviceDifference::difference_pct, Unit::percent, "measured beyond stated")
        .column("verdict", &DeviceDifference::verdict, Unit::none,
                "agrees, differs, or unknown where one of the two is missing")
        .column("reason", &DeviceDifference::reason, Unit::none, "by which rule, and what the difference may mean")
        .may_be_empty();
    return s;
  }();
  return schema;
}

}  // namespace kernelcast::record
