#include "models/ake/calibrate.hpp"

#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "models/ake/machine.hpp"

namespace kernelcast::model::ake {

namespace {

// The classes of latgap.csv that a measured class stands for.
std::vector<Class> classes_of(std::string const& measured) {
  if (auto const c = class_named(measured)) return {*c};
  if (measured == "fp32") return {Class::fp32_add, Class::fp32_mul, Class::fp32_fma};
  if (measured == "fp64_fma") return {Class::fp64};
  if (measured == "special") return {Class::sfu};
  if (measured == "convert") return {Class::cvt};
  if (measured == "shared_load" || measured == "shared") return {Class::smem_load};
  if (measured == "shared_store") return {Class::smem_store};
  if (measured == "sync") return {Class::barrier};
  if (measured == "atomic") return {Class::atomic_global};
  return {};
}

// The level that a working set lies in: at most half of a cache, or at least twice the last.
std::optional<Class> level_of(double working_set_bytes, device::Device const& d) {
  double const l1 = d.l1_per_cu_bytes.value_or(0), l2 = d.l2_bytes.value_or(0);
  if (l1 > 0 && working_set_bytes <= l1 / 2) return Class::gmem_load_l1;
  if (l2 > 0 && working_set_bytes > l1 && working_set_bytes <= l2 / 2) return Class::gmem_load_l2;
  if (working_set_bytes >= 2 * std::max(l1, l2)) return Class::gmem_load_dram;
  return std::nullopt;
}

struct Found {
  std::optional<double> latency, gap;
  std::string src_latency, src_gap;
};

void set_gap(record::LatencyGap& row, double cycles) {
  auto const n = static_cast<std::uint64_t>(std::llround(cycles * 1000));
  std::uint64_t const divisor = std::max<std::uint64_t>(1, std::gcd(n, std::uint64_t{1000}));
  row.gap_numerator = n / divisor;
  row.gap_denominator = 1000 / divisor;
}

std::string source_of(record::Measurement const& m) {
  return fmt::format("{} of {} ({})", m.metric, m.backend, m.source.empty() ? "devprobe" : m.source);
}

}  // namespace

std::vector<record::LatencyGap> calibrate(std::vector<record::Measurement> const& measurements,
                                          device::Device const& device) {
  std::map<Class, Found> found;
  auto const bytes_per_gap =
      line_bytes * device.clock_hz.value_or(0) * static_cast<double>(device.compute_units.value_or(0));
  for (auto const& m : measurements) {
    if (m.device != device.device || m.status != record::RowStatus::ok || !m.value || *m.value <= 0) continue;
    auto const latency = [&](Class c) { found[c].latency = m.value, found[c].src_latency = source_of(m); };
    auto const gap = [&](Class c, double cycles) {
      Found& f = found[c];
      if (f.gap && *f.gap <= cycles) return;  // the best of several
      f.gap = cycles;
      f.src_gap = source_of(m);
    };
    if (m.metric == "latency_cycles") {
      for (Class const c : classes_of(m.item_class)) latency(c);
    } else if (m.metric == "gap_cycles") {
      for (Class const c : classes_of(m.item_class)) gap(c, *m.value);
    } else if (m.metric == "shared_latency_cycles") {
      latency(Class::smem_load);
    } else if (m.metric == "load_latency_cycles" && m.working_set_bytes) {
      if (auto const c = level_of(*m.working_set_bytes, device)) latency(*c);
    } else if ((m.metric == "global_bandwidth_bytes_per_s" || m.metric == "cache_bandwidth_bytes_per_s") &&
               m.access == "coalesced" && m.direction == "read" && bytes_per_gap > 0) {
      auto const c = m.metric[0] == 'g'    ? Class::gmem_load_dram
                     : m.working_set_bytes ? level_of(*m.working_set_bytes, device)
                                           : std::nullopt;
      if (c && (*c != Class::gmem_load_l1)) gap(*c, bytes_per_gap / *m.value);
    }
  }
  std::vector<record::LatencyGap> rows;
  for (auto const& [c, figures] : found) {
    record::LatencyGap& row = rows.emplace_back();
    row.architecture = device.architecture;
    row.measured_on = device.device;
    row.target = device.target;
    row.clock = "core clock";
    row.class_name = name(c);
    row.latency_cycles = row.latency_high_cycles = figures.latency;
    if (figures.gap) set_gap(row, *figures.gap);
    row.gap_of =
        c == Class::gmem_load_l2 || c == Class::gmem_load_dram ? "128 B, all units active" : "warp instruction";
    row.recommended = "yes";
    row.src_latency = figures.src_latency;
    row.src_gap = figures.src_gap;
  }
  return rows;
}

}  // namespace kernelcast::model::ake
