#include "record/measurement.hpp"

#include <array>

namespace kernelcast::record {

namespace {

constexpr std::array<Metric, 23> all_metrics{{
    {"peak_flop_per_s", Unit::flop_per_s,
     "floating-point operations per second of class fp32, fp64 or fp16; variant fma (a multiply-add counts two), "
     "add_mul "
     "(as many additions as multiplications)"},
    {"peak_op_per_s", Unit::none, "results per second of an integer, special, convert or logic class"},
    {"global_bandwidth_bytes_per_s", Unit::bytes_per_s,
     "bytes that work-items ask for per second from memory beyond the caches, over occupancy, word size and access"},
    {"cache_bandwidth_bytes_per_s", Unit::bytes_per_s, "the same over a working set that lies in a cache"},
    {"shared_bandwidth_bytes_per_s", Unit::bytes_per_s,
     "the same from shared memory; access stride<k> is a conflict of degree k on power-of-two strides"},
    {"texture_bandwidth_bytes_per_s", Unit::bytes_per_s, "the same through image reads"},
    {"constant_bandwidth_bytes_per_s", Unit::bytes_per_s,
     "the same from constant memory; coalesced: one address for all work-items of a wavefront"},
    {"load_latency_s", Unit::seconds, "time of a dependent load, by a random cycle through the working set"},
    {"load_latency_cycles", Unit::cycles, "the same in clocks of the device"},
    {"shared_latency_cycles", Unit::cycles, "clocks of a dependent load from shared memory"},
    {"cache_capacity_bytes", Unit::bytes, "data that a cache holds, found where the latency rises; variant l1, l2, l3"},
    {"cache_line_bytes", Unit::bytes, "distance from which two loads no longer share a transfer"},
    {"atomic_op_per_s", Unit::none,
     "atomic additions per second; variant same (one address), distinct (an address each), shared (one in shared "
     "memory)"},
    {"launch_s", Unit::seconds, "from the call that starts an empty kernel to its end as the host sees it"},
    {"launch_throughput_s", Unit::seconds, "time per launch where many empty kernels are queued"},
    {"compile_s", Unit::seconds, "compiling one small kernel from source, caches of the driver avoided"},
    {"copy_bandwidth_bytes_per_s", Unit::bytes_per_s,
     "bytes copied per second, each counted once; variant says from where to where, pinned or pageable, alone or "
     "concurrent"},
    {"copy_latency_s", Unit::seconds, "time of the smallest copy"},
    {"copy_row_s", Unit::seconds, "what each row adds to the time of a two-dimensional copy with gaps"},
    {"barrier_s", Unit::seconds,
     "global barrier at full occupancy; variant host (kernels launched one after the other, four groups of 32x32 on "
     "each unit), threads (one thread on each logical core)"},
    {"latency_cycles", Unit::cycles, "clocks from one instruction of `class` to the next that needs its result"},
    {"gap_cycles", Unit::cycles,
     "clocks of a compute unit per wavefront instruction of `class` in independent streams; on CPUs per instruction of "
     "a core"},
    {"clock_hz", Unit::hertz, "clock of the compute units under load"},
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

Schema<Measurement> const& Measurement::schema() {
  static auto const schema = [] {
    Schema<Measurement> s("measurement", "a metric of a device, measured at one point");
    s.column("device", &Measurement::device, Unit::none, "slug of the device, as in the device database")
        .column("backend", &Measurement::backend, Unit::none, "opencl, cuda or cpu")
        .may_be_empty()
        .column("metric", &Measurement::metric, Unit::none, "what was measured, from the closed list below")
        .column("access", &Measurement::access, Unit::none,
                "coalesced, stride<k> (every k-th word) or random; empty where it makes no difference")
        .may_be_empty()
        .column("direction", &Measurement::direction, Unit::none,
                "read, write or copy; empty where it makes no difference")
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
                "ok; doubtful: measured but not plausible; failed; unsupported: the device cannot do it")
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

}  // namespace kernelcast::record
