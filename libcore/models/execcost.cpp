#include "models/execcost.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diag/text.hpp"

namespace kernelcast::model::execcost {

namespace q = record::quantity;

void Work::add_row(record::Profile const& row) {
  auto const incomplete = [&](char const* column) {
    return Error(Status::bad_data, fmt::format("a row of quantity '{}' needs the column '{}'", row.quantity, column));
  };
  if (row.quantity == q::level_width) {
    if (!row.low) throw incomplete("low");
    if (*row.low > 0) widths[*row.low] += row.count;
    return;
  }
  if (row.quantity == q::stack_distance) {
    if (!row.granularity_bytes) throw incomplete("granularity_bytes");
    auto& at = locality[*row.granularity_bytes];
    if (!row.low) {
      at.cold += row.count;
    } else {
      if (row.high && *row.high <= *row.low)
        throw Error(Status::bad_data, "the bin [low, high) of a stack distance is empty");
      at.bins.push_back({*row.low, row.high.value_or(*row.low + 1), row.count});
    }
    return;
  }
  if (row.quantity == q::footprint_bytes) {
    if (!row.granularity_bytes) throw incomplete("granularity_bytes");
    footprint_bytes[*row.granularity_bytes] += row.count;
    return;
  }
  for (auto const& [name, value] : {std::pair{q::flop, &flop}, std::pair{q::w_add, &add}, std::pair{q::w_mul, &mul},
                                    std::pair{q::w_vec, &vec}, std::pair{q::depth, &depth}, std::pair{q::sync, &sync}})
    if (row.quantity == name) *value += row.count;
}

Hits split(Locality const& locality, double capacity_blocks) {
  Hits out;
  out.misses = static_cast<double>(locality.cold);
  for (auto const& bin : locality.bins) {
    auto const low = static_cast<double>(bin.low), high = static_cast<double>(bin.high);
    auto const count = static_cast<double>(bin.count);
    auto const below = std::clamp((capacity_blocks - low) / (high - low), 0.0, 1.0) * count;
    out.hits += below;
    out.misses += count - below;
    if (below > 0 && below < count) {
      out.uncertain_hits += below;
      out.uncertain_misses += count - below;
    }
  }
  return out;
}

std::vector<std::string> missing_columns(device::Device const& d) {
  std::vector<std::string> missing;
  for (auto const& [name, value] :
       {std::pair{"automatch_cores", &d.automatch_cores}, std::pair{"automatch_flop_per_s", &d.automatch_flop_per_s},
        std::pair{"automatch_fast_bytes", &d.automatch_fast_bytes},
        std::pair{"automatch_line_bytes", &d.automatch_line_bytes},
        std::pair{"automatch_fast_bytes_per_s", &d.automatch_fast_bytes_per_s},
        std::pair{"automatch_fast_latency_s", &d.automatch_fast_latency_s},
        std::pair{"automatch_slow_bytes_per_s", &d.automatch_slow_bytes_per_s},
        std::pair{"automatch_slow_latency_s", &d.automatch_slow_latency_s},
        std::pair{"automatch_barrier_s", &d.automatch_barrier_s}})
    if (!*value) missing.emplace_back(name);
  if (d.kind == "cpu" && !d.wave_width) missing.emplace_back("wave_width");
  return missing;
}

double instruction_mix(std::uint64_t add, std::uint64_t mul) {
  auto const larger = std::max(add, mul);
  if (larger == 0) return 0.5;
  return (static_cast<double>(add) + static_cast<double>(mul)) / (2 * static_cast<double>(larger));
}

double vectorization(std::uint64_t vec, std::uint64_t flop, double lanes) {
  if (flop == 0) return 1;
  return std::max(static_cast<double>(vec) / static_cast<double>(flop), 1 / std::max(lanes, 1.0));
}

namespace {

// T_comp, equation (3). [automatch]
double compute_time_s(Work const& work, device::Device const& d, double mix, double vectors) {
  if (work.flop == 0) return 0;
  double const rate = *d.automatch_flop_per_s;
  double steps = 0;
  for (auto const& [width, levels] : work.widths) {
    auto const w = static_cast<double>(width);
    steps += static_cast<double>(levels) * w / std::min(w, *d.automatch_cores);
  }
  return static_cast<double>(work.depth) / rate + steps / (rate * vectors * mix);
}

struct MemoryTime {
  double fast_s = 0, slow_s = 0;
};

// The bandwidth terms of equation (4); Q L is the bytes accessed. [automatch]
MemoryTime memory_time_s(device::Device const& d, double hits, double misses, double granularity_bytes) {
  return {hits * granularity_bytes / *d.automatch_fast_bytes_per_s,
          misses * granularity_bytes / *d.automatch_slow_bytes_per_s};
}

record::ExecutionCost unknown(record::ExecutionCost cost, std::string reason) {
  cost.status = record::RowStatus::unknown;
  cost.reason = std::move(reason);
  return cost;
}

// The columns of the model that the database marks as assumptions.
std::string assumptions(device::Device const& d) {
  std::vector<std::string_view> columns;
  for (auto const item : listed(d.assumed))
    if (trimmed(item).starts_with("automatch_")) columns.push_back(trimmed(item.substr(0, item.find(':'))));
  return columns.empty() ? "" : fmt::format("assumed in the device database: {}", fmt::join(columns, ", "));
}

record::LimiterName largest(std::vector<std::pair<record::Limiter, double>> const& terms) {
  auto const most =
      std::max_element(terms.begin(), terms.end(), [](auto const& a, auto const& b) { return a.second < b.second; });
  return most->second > 0 ? most->first : record::LimiterName{};
}

}  // namespace

record::ExecutionCost project(Work const& work, device::Device const& d, Options const& options) {
  record::ExecutionCost out;
  out.kernel = work.kernel;
  out.case_name = work.case_name;
  out.device = d.device;
  out.model = model_name;
  if (auto const missing = missing_columns(d); !missing.empty())
    return unknown(std::move(out), fmt::format("the device database lacks {}", fmt::join(missing, ", ")));
  auto const granularity =
      options.granularity_bytes > 0 ? options.granularity_bytes : static_cast<std::uint64_t>(*d.automatch_line_bytes);
  auto const locality = work.locality.find(granularity);
  if (locality == work.locality.end())
    return unknown(std::move(out), fmt::format("the profile has no stack distances at {} bytes", granularity));

  bool const cpu = d.kind == "cpu";
  double const mix = instruction_mix(work.add, work.mul);
  // wave_width counts single-precision lanes; the model is one of doubles.
  double const vectors = cpu ? vectorization(work.vec, work.flop, static_cast<double>(*d.wave_width) / 2) : 1;
  out.reason = assumptions(d);
  if (work.flop > 0 && work.add + work.mul == 0)
    out.reason += std::string(out.reason.empty() ? "" : "; ") +
                  "neither additions nor multiplications: instruction mix taken as 0.5";
  auto const bytes = static_cast<double>(granularity);
  auto const q = split(locality->second, *d.automatch_fast_bytes / bytes);
  auto const memory = memory_time_s(d, q.hits, q.misses, bytes);
  double const latency_s =
      (*d.automatch_fast_latency_s + *d.automatch_slow_latency_s) * static_cast<double>(work.depth);

  out.instruction_mix = mix;
  out.vectorization = vectors;
  out.t_comp_s = compute_time_s(work, d, mix, vectors);
  out.t_fast_s = memory.fast_s;
  out.t_slow_s = memory.slow_s;
  out.t_latency_s = latency_s;
  out.t_mem_s = latency_s + memory.fast_s + memory.slow_s;
  out.t_sync_s = static_cast<double>(work.sync) * *d.automatch_barrier_s;
  if (options.link_bytes_per_s) {
    auto const touched = work.footprint_bytes.find(granularity);
    if (touched == work.footprint_bytes.end())
      return unknown(std::move(out), fmt::format("the profile has no touched bytes at {} bytes", granularity));
    out.t_transfer_s = cpu ? 0 : static_cast<double>(touched->second) / *options.link_bytes_per_s;
  }
  double const rest_s = *out.t_comp_s + latency_s + *out.t_sync_s + out.t_transfer_s.value_or(0);
  out.time_s = rest_s + memory.fast_s + memory.slow_s;
  if (!(*out.time_s > 0)) {
    out.time_s.reset();
    return unknown(std::move(out), "neither operations nor memory references were profiled");
  }
  auto const time_with = [&](double hits, double misses) {
    auto const m = memory_time_s(d, hits, misses, bytes);
    return rest_s + m.fast_s + m.slow_s;
  };
  double const all_hit = time_with(q.hits + q.uncertain_misses, q.misses - q.uncertain_misses);
  double const all_miss = time_with(q.hits - q.uncertain_hits, q.misses + q.uncertain_hits);
  out.time_low_s = std::min({all_hit, all_miss, *out.time_s});
  out.time_high_s = std::max({all_hit, all_miss, *out.time_s});
  out.limiter = largest({{record::Limiter::compute, *out.t_comp_s},
                         {record::Limiter::fast_memory, memory.fast_s},
                         {record::Limiter::slow_memory, memory.slow_s},
                         {record::Limiter::latency, latency_s},
                         {record::Limiter::sync, *out.t_sync_s},
                         {record::Limiter::transfer, out.t_transfer_s.value_or(0)}});
  return out;
}

}  // namespace kernelcast::model::execcost
