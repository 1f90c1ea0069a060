#include "models/perdome/report.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kernelcast::model::perdome {

namespace {

// Of the k-th part; empty where it has no bytes, or there is none.
std::optional<double> part_intensity(double whole, Division const& d, std::size_t k) {
  if (k >= d.x.size()) return std::nullopt;
  if (d.x[k] == 0) return 0.0;
  if (d.y[k] == 0) return std::nullopt;
  return whole * d.x[k] / d.y[k];
}

// Of the processors that have a part; empty where that of one is not known.
std::optional<double> power_w(Processors const& processors, Division const& d) {
  double out = 0;
  for (std::size_t k = 0; k < processors.size(); ++k) {
    if (d.x[k] == 0 && d.y[k] == 0) continue;
    if (!processors[k].tdp_w) return std::nullopt;
    out += *processors[k].tdp_w;
  }
  return out;
}

std::string rates_text(Processors const& processors) {
  std::vector<std::string> out;
  for (auto const& p : processors) out.push_back(p.rates);
  return fmt::format("{}", fmt::join(out, ";"));
}

}  // namespace

record::Bound bound_row(System const& system, std::string partition, double intensity, Division const& d,
                        double link_s_per_flop) {
  auto const& processors = system.processors;
  auto const b = bound(processors, intensity, d, link_s_per_flop);
  record::Bound out;
  out.partition = std::move(partition);
  out.system = system.name;
  out.bound_flop_per_s = b.flop_per_s;
  out.limiter = fmt::format("{} {}{}", processors[b.processor].name, b.memory ? "memory" : "compute",
                            link_s_per_flop > 0 ? "+link" : "");
  out.relative_to_best = std::min(1.0, b.flop_per_s / optimum(processors, intensity).flop_per_s);
  out.intensity = intensity;
  out.intensity_cpu = part_intensity(intensity, d, 0);
  out.intensity_gpu = part_intensity(intensity, d, 1);
  out.flops_shares = joined(d.x);
  out.bytes_shares = joined(d.y);
  out.power_w = power_w(processors, d);
  if (out.power_w) out.flop_per_j = b.flop_per_s / *out.power_w;
  out.rates = rates_text(processors);
  return out;
}

record::Bound data_partition_row(System const& system, double intensity) {
  return bound_row(system, "p-DP", intensity, data_partition(system.processors, intensity));
}

record::Bound partition_row(System const& system, PartitionedWork const& work, double link_bytes_per_s) {
  if (work.link_bytes_per_flop > 0 && !(link_bytes_per_s > 0))
    throw Error(Status::usage,
                fmt::format("partition '{}' moves bytes across the link, whose speed is not given", work.name),
                "--link-bandwidth BYTES_PER_S");
  double const link = work.link_bytes_per_flop > 0 ? work.link_bytes_per_flop / link_bytes_per_s : 0;
  auto const d = work.division ? *work.division : data_partition(system.processors, work.intensity);
  if (d.x.size() != system.processors.size())
    throw Error(Status::usage,
                fmt::format("partition '{}' is for {} processors, '{}' has {}", work.name, d.x.size(), system.name,
                            system.processors.size()),
                "intensities and _cpu, _gpu columns divide over two; flops_each and bytes_each over any number");
  return bound_row(system, work.name, work.intensity, d, link);
}

void each_surface_row(System const& system, double intensity, std::vector<double> const& axis,
                      std::function<void(record::Bound const&)> const& visit) {
  auto const& processors = system.processors;
  if (processors.size() != 2)
    throw Error(Status::usage,
                fmt::format("--sweep is for two processors; '{}' has {}", system.name, processors.size()),
                "--best serves any number");
  for (double const first : axis)
    for (double const second : axis)
      if (first != second && lemma_violation(intensity, first, second).empty()) {
        auto point = bound_row(system, "CP", intensity, division(intensity, first, second));
        point.intensity_cpu = first;  // as they stand on the axes, not as they come back from the shares
        point.intensity_gpu = second;
        visit(point);
      }
  for (std::size_t k = 0; k < processors.size(); ++k) {
    Division alone{{0, 0}, {0, 0}};
    alone.x[k] = alone.y[k] = 1;
    visit(bound_row(system, processors[k].name + " only", intensity, alone));
  }
  visit(data_partition_row(system, intensity));
  visit(bound_row(system, "optimum", intensity, optimum(processors, intensity).division));
}

std::vector<record::Bound> roof_rows(System const& system) {
  std::set<double> corners{1.0 / 64, 1024};
  for (auto const& p : system.processors) corners.insert(p.flop_per_s() / p.bytes_per_s());
  std::vector<record::Bound> out;
  for (double const intensity : corners)
    out.push_back(bound_row(system, "roof", intensity, data_partition(system.processors, intensity)));
  return out;
}

std::vector<record::Optimum> optimum_rows(System const& system, double intensity) {
  auto const& processors = system.processors;
  auto const best = optimum(processors, intensity);
  std::vector<record::Optimum> out;
  for (std::size_t k = 0; k < processors.size(); ++k) {
    auto& r = out.emplace_back();
    r.system = system.name;
    r.intensity = intensity;
    r.bound_flop_per_s = best.flop_per_s;
    r.limiter = best.memory ? record::Limiter::memory : record::Limiter::compute;
    r.device = processors[k].name;
    r.flops_share = best.division.x[k];
    r.flops_share_low = best.x[k].low;
    r.flops_share_high = best.x[k].high;
    r.bytes_share = best.division.y[k];
    r.bytes_share_low = best.y[k].low;
    r.bytes_share_high = best.y[k].high;
    r.data_partition_flop_per_s = best.data_partition_flop_per_s;
    r.gain_over_data_partition_pct = 100 * (best.flop_per_s / best.data_partition_flop_per_s - 1);
    r.best_single_device = processors[best.best_single].name;
    r.single_flop_per_s = best.single_flop_per_s;
    r.gain_over_single_pct = 100 * (best.flop_per_s / best.single_flop_per_s - 1);
    r.rates = processors[k].rates;
  }
  return out;
}

}  // namespace kernelcast::model::perdome
