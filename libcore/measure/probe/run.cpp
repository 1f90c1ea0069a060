// run(): sampling the points of a plan one after the other, within the time.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "measure/probe/probe.hpp"

namespace kernelcast::probe {

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Pace {
  double total_s, point_s;
  std::size_t least;
};

Pace pace(Depth depth) {
  switch (depth) {
    case Depth::quick:
      return {15, 0.25, 5};
    case Depth::normal:
      return {55, 1, 7};
    case Depth::thorough:
      return {230, 3, 11};
  }
  return {};
}

// To as many digits as a measurement has sense for.
double rounded(double value, int digits = 6) {
  if (value == 0 || !std::isfinite(value)) return value;
  return std::strtod(fmt::format("{:.{}g}", value, digits).c_str(), nullptr);
}

void fill(record::Measurement& row, Statistics const& s) {
  row.value = rounded(s.median);
  row.mad = rounded(s.mad);
  row.ci_low = rounded(s.ci_low);
  row.ci_high = rounded(s.ci_high);
  row.samples = s.samples;
  row.outliers = s.outliers;
}

class Runner {
 public:
  Runner(Probe& probe, RunOptions const& options)
      : probe_(probe),
        options_(options),
        pace_(pace(options.settings.depth)),
        total_s_(options.seconds > 0 ? options.seconds : pace_.total_s) {}

  Report run() {
    HostLoad const load;
    auto plan = probe_.plan(options_.settings);
    for (auto& point : plan) complete(point.row);
    keep_known(plan);
    for (std::size_t i = 0; i < plan.size(); ++i) {
      step(plan[i], i, plan.size());
      plan[i].measure = nullptr;  // with the last point that needs them its buffers go
    }
    for (auto& row : derive(report_.rows, probe_.facts())) {
      complete(row);
      bool const known = std::any_of(report_.rows.begin(), report_.rows.end(),
                                     [&](auto const& other) { return same_point(row, other); });
      if (!known) hand_over(std::move(row));
    }
    report_.other_load_pct = load.others_pct();
    report_.seconds = since(start_);
    if (lost_) throw DeviceLost(*lost_);
    return std::move(report_);
  }

 private:
  void complete(record::Measurement& row) const {
    row.device = probe_.facts().device;
    row.backend = probe_.facts().backend;
    row.source = options_.source;
  }

  // Rows of an earlier run take the place of their points.
  void keep_known(std::vector<Point>& plan) {
    for (auto const& row : options_.have)
      if (row.device == probe_.facts().device && row.backend == probe_.facts().backend) report_.rows.push_back(row);
    std::erase_if(plan, [&](Point const& point) {
      return std::any_of(report_.rows.begin(), report_.rows.end(), [&](auto const& row) {
        return same_point(row, point.row) &&
               (row.status == record::RowStatus::ok || row.status == record::RowStatus::doubtful ||
                row.status == record::RowStatus::unsupported);
      });
    });
  }

  void hand_over(record::Measurement row) {
    report_.doubtful += row.status == record::RowStatus::doubtful;
    report_.failed += row.status == record::RowStatus::failed;
    report_.unsupported += row.status == record::RowStatus::unsupported;
    if (options_.row) options_.row(row);
    report_.rows.push_back(std::move(row));
  }

  void step(Point& point, std::size_t index, std::size_t count) {
    auto row = point.row;
    if (options_.progress) options_.progress({index, count, remaining_s(index, count), name_of(row)});
    if (!point.unsupported.empty() || lost_) {
      row.status = lost_ ? record::RowStatus::failed : record::RowStatus::unsupported;
      row.reason = lost_ ? fmt::format("not measured: {}", lost_->what()) : point.unsupported;
      return hand_over(std::move(row));
    }
    if (point.stated) {
      row.value = point.stated;
      row.status = record::RowStatus::ok;
      return hand_over(std::move(row));
    }
    try {
      Budget budget;
      budget.least = pace_.least;
      double const left = std::max(0.0, total_s_ - since(start_));
      budget.seconds = std::clamp(1.5 * left / static_cast<double>(count - index), 0.01, pace_.point_s);
      auto const before = probe_.clock_hz();
      auto const sampled = sample(point.measure, budget, options_.settings.seed + index);
      auto const after = probe_.clock_hz();
      ++report_.sampled;
      fill(row, sampled.statistics);
      row.other_load_pct = std::round(sampled.other_load_pct * 10) / 10;
      if (after) row.clock_hz = rounded(*after, 4);
      row.status = record::RowStatus::ok;
      for (auto const& doubt : {doubt_about(point, probe_.facts(), sampled, before, after), probe_.trouble()}) {
        if (doubt.empty()) continue;
        row.status = record::RowStatus::doubtful;
        row.reason += (row.reason.empty() ? "" : "; ") + doubt;
      }
      if (!std::isfinite(sampled.statistics.median)) row.value = row.mad = row.ci_low = row.ci_high = std::nullopt;
    } catch (DeviceLost const& error) {
      lost_ = error;
      row.status = record::RowStatus::failed;
      row.reason = error.what();
    } catch (Error const& error) {
      row.status = record::RowStatus::failed;
      row.reason = error.what();
    } catch (std::bad_alloc const&) {
      row.status = record::RowStatus::failed;
      row.reason = "out of memory";
    }
    hand_over(std::move(row));
  }

  static std::string name_of(record::Measurement const& row) {
    std::string out = row.metric;
    for (auto const* const part : {&row.item_class, &row.direction, &row.access, &row.variant})
      if (!part->empty()) out += " " + *part;
    return out;
  }

  double remaining_s(std::size_t index, std::size_t count) const {
    if (index == 0) return total_s_;
    double const spent = since(start_);
    return std::min(spent / static_cast<double>(index) * static_cast<double>(count - index),
                    std::max(total_s_ - spent, 0.0) + 1);
  }

  Probe& probe_;
  RunOptions const& options_;
  Pace pace_;
  double total_s_;
  Clock::time_point start_ = Clock::now();
  Report report_;
  std::optional<DeviceLost> lost_;
};

}  // namespace

Report run(Probe& probe, RunOptions const& options) {
  return Runner(probe, options).run();
}

double time_limit_s(Depth depth) {
  return pace(depth).total_s;
}

void forget_failures(std::vector<record::Measurement>& rows, Facts const& facts) {
  std::erase_if(rows, [&](auto const& row) {
    return row.status == record::RowStatus::failed && row.device == facts.device && row.backend == facts.backend;
  });
}

bool same_point(record::Measurement const& a, record::Measurement const& b) {
  return a.device == b.device && a.backend == b.backend && a.metric == b.metric && a.access == b.access &&
         a.direction == b.direction && a.word_bytes == b.word_bytes && a.occupancy == b.occupancy &&
         a.working_set_bytes == b.working_set_bytes && a.item_class == b.item_class && a.variant == b.variant;
}

std::vector<Point> stated_points(Facts const& facts) {
  std::vector<Point> out;
  auto const state = [&](char const* metric, double value, char const* variant = "") {
    if (!(value > 0)) return;
    Point point;
    point.bench = "facts";
    point.row.metric = metric;
    point.row.variant = variant;
    point.stated = value;
    out.push_back(std::move(point));
  };
  state("compute_units", static_cast<double>(facts.compute_units));
  state("compute_capability", static_cast<double>(facts.compute_capability));
  state("lanes_per_cu", static_cast<double>(facts.lanes_per_cu));
  state("threads_per_cu", static_cast<double>(facts.threads_per_cu));
  if (facts.kind == "gpu") state("wave_width", static_cast<double>(facts.wave_width));
  state("max_group_size", static_cast<double>(facts.max_group_size));
  state("registers_per_cu", static_cast<double>(facts.registers_per_cu));
  state("shared_per_group_bytes", facts.shared_per_group_bytes);
  state("shared_per_cu_bytes", facts.shared_per_cu_bytes);
  state("memory_bytes", facts.memory_bytes);
  state("stated_cache_bytes", facts.last_cache_bytes);
  state("stated_cache_bytes", facts.l1_bytes, "l1");
  state("stated_cache_bytes", facts.l2_bytes, "l2");
  state("stated_cache_bytes", facts.l3_bytes, "l3");
  state("stated_clock_hz", facts.clock_hz);
  if (facts.memory_bus_bits > 0 && facts.memory_clock_hz > 0)
    state("stated_bandwidth_bytes_per_s", 2 * facts.memory_clock_hz * static_cast<double>(facts.memory_bus_bits) / 8);
  return out;
}

std::string doubt_about(Point const& point, Facts const& facts, Sampled const& sampled,
                        std::optional<double> clock_before, std::optional<double> clock_after) {
  double const value = sampled.statistics.median;
  if (!std::isfinite(value)) return "the value is not finite";
  if (!(value > 0)) return fmt::format("a value of {} is invalid", value);
  if (!point.doubt.empty()) return point.doubt;
  // Clocks and counters are good to about 2 %.
  if (point.most && value > 1.02 * *point.most) return fmt::format("above the theoretical peak of {:.4g}", *point.most);
  if (point.row.metric == "global_bandwidth_bytes_per_s" && facts.last_cache_bytes > 0 &&
      point.row.working_set_bytes.value_or(0) < 4 * facts.last_cache_bytes)
    return fmt::format("the working set is under four times the last cache of {:.0f} bytes", facts.last_cache_bytes);
  if (clock_before && clock_after && std::abs(*clock_after / *clock_before - 1) > 0.05)
    return fmt::format("the clock moved from {:.0f} to {:.0f} MHz", *clock_before / 1e6, *clock_after / 1e6);
  // Threads of the driver that take turns look the same, and do not matter: the interval shows whether they do.
  if (sampled.disturbed_used && sampled.statistics.relative_width() > 0.1)
    return fmt::format("other programs interrupted {} of {} samples", sampled.disturbed, sampled.statistics.samples);
  return {};
}

namespace {

struct Step {
  double bytes, latency;
};

// Working sets and latencies of one variant, in order.
std::vector<Step> latency_curve(std::vector<record::Measurement> const& rows, std::string const& variant) {
  std::vector<Step> out;
  for (auto const& row : rows)
    if (row.metric == "load_latency_s" && row.variant == variant && row.value && row.working_set_bytes)
      out.push_back({*row.working_set_bytes, *row.value});
  std::sort(out.begin(), out.end(), [](Step const& a, Step const& b) { return a.bytes < b.bytes; });
  return out;
}

}  // namespace

namespace {

// The row in clocks of the device, of which there were `row.clock_hz` per second.
record::Measurement in_cycles(record::Measurement row) {
  row.metric = "load_latency_cycles";
  for (auto* const value : {&row.value, &row.mad, &row.ci_low, &row.ci_high})
    if (*value) *value = rounded(**value * *row.clock_hz);
  return row;
}

}  // namespace

std::vector<record::Measurement> derive(std::vector<record::Measurement> const& rows, Facts const& facts) {
  std::vector<record::Measurement> out;
  for (auto const& row : rows)
    if (row.metric == "load_latency_s" && row.variant.empty() && row.value && row.clock_hz)
      out.push_back(in_cycles(row));
  auto const curve = latency_curve(rows, "");
  // A cache holds the largest working set of its plateau. Plateaus are found by the jumps: a step of the curve that
  // rises by over 30 % ends one, if the latency before it was flat; the steps of one rise belong together.
  unsigned level = 0;
  for (std::size_t i = 1; i < curve.size(); ++i) {
    bool const rises = curve[i].latency > 1.3 * curve[i - 1].latency;
    bool const rose = i > 1 && curve[i - 1].latency > 1.3 * curve[i - 2].latency;
    if (!rises || rose) continue;
    record::Measurement row;
    row.device = facts.device;
    row.backend = facts.backend;
    row.metric = "cache_capacity_bytes";
    row.variant = fmt::format("l{}", ++level);
    row.value = curve[i - 1].bytes;
    row.ci_low = curve[i - 1].bytes;
    row.ci_high = curve[i].bytes;
    row.status = record::RowStatus::ok;
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace kernelcast::probe
