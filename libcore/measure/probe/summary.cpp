#include "measure/probe/summary.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kernelcast::probe {

namespace {

using Rows = std::vector<record::Measurement>;

std::uint64_t whole(double value) {
  return value > 0 ? static_cast<std::uint64_t>(std::llround(value)) : 0;
}

// The best value among the rows that are wanted; empty when there is none.
std::optional<double> best(Rows const& rows, std::string_view metric,
                           std::function<bool(record::Measurement const&)> const& wanted = {}) {
  std::optional<double> out;
  for (auto const& row : rows)
    if (row.metric == metric && row.status == record::RowStatus::ok && row.value && (!wanted || wanted(row)))
      out = std::max(out.value_or(*row.value), *row.value);
  return out;
}

auto of_class(std::string item_class, std::string variant = {}) {
  return [item_class = std::move(item_class), variant = std::move(variant)](record::Measurement const& row) {
    return row.item_class == item_class && (variant.empty() || row.variant == variant);
  };
}

std::optional<double> mean(std::vector<double> const& values) {
  if (values.empty()) return std::nullopt;
  double sum = 0;
  for (double const v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

std::vector<record::Measurement const*> latencies(Rows const& rows) {
  std::vector<record::Measurement const*> out;
  for (auto const& row : rows)
    if (row.metric == "load_latency_s" && row.variant.empty() && row.value && row.working_set_bytes &&
        row.status == record::RowStatus::ok)
      out.push_back(&row);
  std::sort(out.begin(), out.end(),
            [](auto const* a, auto const* b) { return *a->working_set_bytes < *b->working_set_bytes; });
  return out;
}

// Mean latency of the levels on the chip: one value for each cache, from the middle of what only it can hold.
std::optional<double> fast_latency_s(Rows const& rows, Facts const& facts) {
  auto const curve = latencies(rows);
  std::vector<double> levels;
  double below = 0;
  double const sizes[] = {facts.l1_bytes, facts.l2_bytes, facts.l3_bytes};
  for (double const size : sizes) {
    if (!(size > 0)) continue;
    std::vector<double> inside;
    for (auto const* const row : curve)
      if (*row->working_set_bytes > below && *row->working_set_bytes <= 0.75 * size) inside.push_back(*row->value);
    if (!inside.empty()) levels.push_back(inside[inside.size() / 2]);
    below = size;
  }
  // Where no size is stated, the capacities that the curve shows take their place.
  if (levels.empty() && !curve.empty())
    for (auto const& row : rows)
      if (row.metric == "cache_capacity_bytes" && row.value)
        for (auto const* const point : curve)
          if (*point->working_set_bytes == *row.value) levels.push_back(*point->value);
  return mean(levels);
}

std::optional<double> fast_bandwidth(Rows const& rows) {
  std::vector<double> levels;
  for (char const* const level : {"l1", "l2", "l3"})
    if (auto const value = best(rows, "cache_bandwidth_bytes_per_s",
                                [&](auto const& row) { return row.variant == level && row.direction == "read"; }))
      levels.push_back(*value);
  if (auto const shared = best(rows, "shared_bandwidth_bytes_per_s",
                               [](auto const& row) { return row.access == "coalesced" && row.direction == "read"; }))
    levels.push_back(*shared);
  return mean(levels);
}

std::string source_of(Rows const& rows) {
  std::set<std::string> sources;
  for (auto const& row : rows)
    if (!row.source.empty()) sources.insert(row.source);
  return sources.empty() ? "devprobe" : fmt::format("{}", fmt::join(sources, "; "));
}

template <class T>
std::optional<T> known(T value) {
  return value > 0 ? std::optional<T>(value) : std::nullopt;
}

void set_arithmetic(record::Device& d, Rows const& rows, Facts const& facts) {
  auto const clock = best(rows, "clock_hz");
  d.clock_boost_hz = known(facts.clock_hz);
  d.clock_hz = clock ? clock : known(facts.clock_hz);
  d.peak_fp32_flop_per_s = best(rows, "peak_flop_per_s", of_class("fp32"));
  d.peak_fp64_flop_per_s = best(rows, "peak_flop_per_s", of_class("fp64"));
  d.peak_fp16_flop_per_s = best(rows, "peak_flop_per_s", of_class("fp16"));
  if (!d.clock_hz || !d.compute_units) return;
  double const cycles = *d.clock_hz * static_cast<double>(*d.compute_units);
  using enum record::InstructionClass;
  auto const per_cycle = [&](record::InstructionClass c, std::optional<double> rate, double per_result) {
    // To the next quarter: a measured rate lies a little below the number of units.
    if (rate) d.throughput[c] = std::round(4 * *rate / per_result / cycles) / 4;
  };
  per_cycle(fp32, d.peak_fp32_flop_per_s, 2);
  per_cycle(fp64, d.peak_fp64_flop_per_s, 2);
  per_cycle(fp16, d.peak_fp16_flop_per_s, 2);
  for (auto const c : {int_add, int_mul, shift, logic, special, convert})
    per_cycle(c, best(rows, "peak_op_per_s", of_class(std::string(name(c)))), 1);
  for (auto& t : d.throughput)
    if (t && !(*t > 0)) t = std::nullopt;
}

void set_memory(record::Device& d, Rows const& rows, Facts const& facts) {
  d.l1_per_cu_bytes = known(facts.l1_bytes);
  d.l2_bytes = known(facts.l2_bytes);
  d.l3_bytes = known(facts.l3_bytes);
  d.memory_bytes = known(facts.memory_bytes);
  if (facts.memory_bus_bits > 0) d.memory_bus_bits = facts.memory_bus_bits;
  auto const coalesced = [](auto const& row) { return row.access == "coalesced" && row.direction == "read"; };
  d.measured_bandwidth_bytes_per_s = best(rows, "global_bandwidth_bytes_per_s", coalesced);
  d.peak_bandwidth_bytes_per_s = best(rows, "stated_bandwidth_bytes_per_s");
  if (!d.peak_bandwidth_bytes_per_s) d.peak_bandwidth_bytes_per_s = d.measured_bandwidth_bytes_per_s;
  d.l2_bandwidth_bytes_per_s = best(rows, "cache_bandwidth_bytes_per_s",
                                    [](auto const& row) { return row.variant == "l2" && row.direction == "read"; });
  if (auto const curve = latencies(rows); !curve.empty()) d.global_latency_s = curve.back()->value;
}

void set_automatch(record::Device& d, Rows const& rows, Facts const& facts) {
  bool const gpu = d.kind == "gpu";
  double const cores =
      static_cast<double>(facts.compute_units * (gpu ? std::max<std::uint64_t>(1, facts.lanes_per_cu) : 1));
  d.automatch_cores = known(cores);
  if (d.peak_fp64_flop_per_s && cores > 0) d.automatch_flop_per_s = *d.peak_fp64_flop_per_s / cores;
  double const fast = gpu ? facts.shared_per_cu_bytes * static_cast<double>(facts.compute_units) + facts.l2_bytes
                          : facts.last_cache_bytes;
  d.automatch_fast_bytes = known(fast);
  d.automatch_line_bytes = best(rows, "cache_line_bytes");
  if (!d.automatch_line_bytes) d.automatch_line_bytes = known(facts.line_bytes);
  d.automatch_fast_bytes_per_s = fast_bandwidth(rows);
  d.automatch_fast_latency_s = fast_latency_s(rows, facts);
  d.automatch_slow_bytes_per_s = d.measured_bandwidth_bytes_per_s;
  d.automatch_slow_latency_s = d.global_latency_s;
  d.automatch_barrier_s = best(rows, "barrier_s");
}

}  // namespace

Facts facts_from(Rows& rows, std::string const& device) {
  std::set<std::string> there;
  for (auto const& row : rows) there.insert(row.device);
  if (!device.empty()) std::erase_if(rows, [&](auto const& row) { return row.device != device; });
  if (rows.empty())
    throw Error(
        Status::bad_data, device.empty() ? "no measurements" : fmt::format("no measurements of '{}'", device),
        there.empty() ? "the file has a header row only" : fmt::format("there are: {}", fmt::join(there, ", ")));
  if (device.empty() && there.size() > 1)
    throw Error(Status::bad_data, fmt::format("measurements of {} devices", there.size()),
                fmt::format("choose one by --device: {}", fmt::join(there, ", ")));
  Facts out;
  out.device = out.name = rows.front().device;
  out.backend = rows.front().backend;
  auto const of_variant = [&](char const* metric, std::string const& variant) {
    return best(rows, metric, [&](auto const& row) { return row.variant == variant; }).value_or(0);
  };
  auto const number = [&](char const* metric) { return of_variant(metric, ""); };
  out.compute_units = whole(number("compute_units"));
  if (auto const capability = out.compute_capability = whole(number("compute_capability"))) {
    out.vendor = "NVIDIA";
    out.target = fmt::format("sm_{}", capability);
  }
  out.lanes_per_cu = whole(number("lanes_per_cu"));
  out.threads_per_cu = whole(number("threads_per_cu"));
  out.wave_width = whole(number("wave_width"));
  out.max_group_size = whole(number("max_group_size"));
  out.registers_per_cu = whole(number("registers_per_cu"));
  out.shared_per_group_bytes = number("shared_per_group_bytes");
  out.shared_per_cu_bytes = number("shared_per_cu_bytes");
  out.memory_bytes = number("memory_bytes");
  out.last_cache_bytes = number("stated_cache_bytes");
  out.clock_hz = number("stated_clock_hz");
  // Only a GPU has shared memory for a work-group that the rows would state.
  out.kind = out.backend == "cuda" || out.shared_per_cu_bytes > 0 ? "gpu" : "cpu";
  // What is stated, else what the latencies show.
  auto const capacity = [&](char const* level) {
    double const stated = of_variant("stated_cache_bytes", level);
    return stated > 0 ? stated : of_variant("cache_capacity_bytes", level);
  };
  out.l1_bytes = capacity("l1");
  out.l2_bytes = capacity("l2");
  if (out.kind == "gpu" && out.last_cache_bytes > 0)
    out.l2_bytes = out.last_cache_bytes;
  else
    out.l3_bytes = out.last_cache_bytes > 0 ? out.last_cache_bytes : capacity("l3");
  return out;
}

record::Device summarise_device(Rows const& rows, Facts const& facts) {
  record::Device d;
  d.device = facts.device;
  d.vendor = facts.vendor.empty() ? "unknown" : facts.vendor;
  d.name = facts.name;
  d.architecture = facts.architecture.empty() ? "unknown" : facts.architecture;
  d.kind = facts.kind == "gpu" ? "gpu" : "cpu";
  d.target = facts.target.empty() ? "unknown" : facts.target;
  if (auto const capability = facts.compute_capability)  // its row of occupancy.csv; those of 2.x have one
    d.occupancy_target = capability / 10 == 2 ? "cc2.x" : fmt::format("cc{}.{}", capability / 10, capability % 10);
  d.compute_units = known(facts.compute_units);
  d.lanes_per_cu = known(facts.lanes_per_cu);
  d.lanes = known(facts.lanes_per_cu * facts.compute_units);
  d.wave_width = known(facts.wave_width);
  if (d.kind == "gpu") {
    d.max_threads_per_cu = known(facts.threads_per_cu);
    if (facts.wave_width > 0) d.max_waves_per_cu = known(facts.threads_per_cu / facts.wave_width);
    d.max_groups_per_cu = known(facts.max_groups_per_cu);
    d.max_group_size = known(facts.max_group_size);
    d.registers_per_cu = known(facts.registers_per_cu);
    d.shared_per_cu_bytes = known(whole(facts.shared_per_cu_bytes));
    d.shared_per_group_bytes = known(whole(facts.shared_per_group_bytes));
    if (facts.backend == "cuda") d.global_access_rule = record::AccessRule::sectors32;
  } else {
    // As the other CPUs of the database have it: lanes of a vector, logical processors of a core.
    d.wave_width = known(facts.lanes_per_cu);
    d.max_threads_per_cu = known(facts.threads_per_cu);
  }
  set_arithmetic(d, rows, facts);
  set_memory(d, rows, facts);
  set_automatch(d, rows, facts);
  auto const source = source_of(rows);
  d.src_peak = d.src_throughput = d.src_limits = d.src_cache = d.src_measured = d.src_latency = d.src_models = source;
  d.assumed =
      "throughput_fp32: measured rate over units and clock, to the next quarter; peak_fp32_flop_per_s: measured, not "
      "stated";
  if (!best(rows, "stated_bandwidth_bytes_per_s"))
    d.assumed += "; peak_bandwidth_bytes_per_s: as measured_bandwidth_bytes_per_s, no driver states it";
  return d;
}

namespace {

enum class Rule : std::uint8_t { equal, peak, near };

struct Compared {
  char const* column;
  Rule rule;
};

// Columns that a measurement can contradict.
constexpr Compared compared[] = {
    {"compute_units", Rule::equal},
    {"lanes_per_cu", Rule::equal},
    {"wave_width", Rule::equal},
    {"max_threads_per_cu", Rule::equal},
    {"max_group_size", Rule::equal},
    {"registers_per_cu", Rule::equal},
    {"shared_per_group_bytes", Rule::equal},
    {"shared_per_cu_bytes", Rule::equal},
    {"clock_hz", Rule::near},
    {"peak_fp32_flop_per_s", Rule::peak},
    {"peak_fp64_flop_per_s", Rule::peak},
    {"peak_fp16_flop_per_s", Rule::peak},
    {"peak_bandwidth_bytes_per_s", Rule::peak},
    {"measured_bandwidth_bytes_per_s", Rule::near},
    {"l1_per_cu_bytes", Rule::equal},
    {"l2_bytes", Rule::equal},
    {"l3_bytes", Rule::equal},
    {"global_latency_s", Rule::near},
    {"automatch_flop_per_s", Rule::near},
    {"automatch_line_bytes", Rule::equal},
    {"automatch_fast_bytes_per_s", Rule::near},
    {"automatch_fast_latency_s", Rule::near},
    {"automatch_slow_bytes_per_s", Rule::near},
    {"automatch_slow_latency_s", Rule::near},
    {"automatch_barrier_s", Rule::near},
};

std::optional<double> figure(record::Device const& device, char const* name) {
  auto const* const column = record::Device::schema().find(name);
  void const* const field = reinterpret_cast<char const*>(&device) + column->offset;
  if (column->type == record::FieldType::optional_number) return *static_cast<std::optional<double> const*>(field);
  auto const& count = *static_cast<std::optional<std::uint64_t> const*>(field);
  return count ? std::optional<double>(static_cast<double>(*count)) : std::nullopt;
}

record::DeviceDifference judge(record::DeviceDifference row, Rule rule) {
  if (!row.stated || !row.measured) {
    row.verdict = "unknown";
    row.reason = row.stated ? "not measured" : "not stated";
    return row;
  }
  row.difference_pct = 100 * (*row.measured / *row.stated - 1);
  double const part = *row.measured / *row.stated;
  bool agrees = false;
  switch (rule) {
    case Rule::equal:
      agrees = part == 1;
      if (!agrees) row.reason = "another model, or another setting of the device";
      break;
    case Rule::peak:
      agrees = part >= 0.6 && part <= 1.02;
      if (!agrees) row.reason = part > 1 ? "above the stated peak" : "under 60 % of the stated peak";
      break;
    case Rule::near:
      agrees = std::abs(part - 1) <= 0.2;
      if (!agrees) row.reason = "more than 20 % apart";
      break;
  }
  row.verdict = agrees ? "agrees" : "differs";
  return row;
}

}  // namespace

std::vector<record::DeviceDifference> compare(record::Device const& measured, record::Device const& stated) {
  std::vector<record::DeviceDifference> out;
  for (auto const& [column, rule] : compared) {
    record::DeviceDifference row;
    row.device = stated.device;
    row.column = column;
    row.stated = figure(stated, column);
    row.measured = figure(measured, column);
    if (!row.stated && !row.measured) continue;
    out.push_back(judge(std::move(row), rule));
  }
  return out;
}

}  // namespace kernelcast::probe
