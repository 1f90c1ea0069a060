// The queue's input and output as rows.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

#include <fmt/format.h>

#include "models/libraries.hpp"
#include "models/queue.hpp"
#include "records/table/by_axes.hpp"
#include "records/table/histogram.hpp"

namespace kernelcast::model::queue {

namespace {

using record::Pipe, record::Station, record::Step, record::read_histogram, record::read_numbers;

constexpr double past_l1_bucket = 31;  // of group_reuse: loads that pass the first-level cache by

// Of so many groups: there are as many as powers of two up to these, or none.
bool read_unions(std::string_view text, double groups, std::vector<double>& unions) {
  bool const reads = read_histogram(text, [&](std::string_view key, double n) {
    double k = 0;
    if (!read_numbers(key, {&k, 1}) || k != static_cast<double>(unions.size()) || k > 64) return false;
    unions.push_back(std::max(n, unions.empty() ? 0 : unions.back()));
    return true;
  });
  return reads && (unions.empty() || static_cast<double>(unions.size()) == std::ceil(std::log2(groups)) + 1);
}

bool has_slots(record::Kernel const& row) {
  return row.slots[Pipe::issue].has_value();
}

// Of the wavefronts that slots are of: AMD's have 64 lanes before gfx10.
double lanes_of(std::string_view target) {
  return target.starts_with("gfx") && !(target.starts_with("gfx1") && target.size() > 6) ? 64 : warp;
}

}  // namespace

Kernel::Kernel(record::Kernel const& row) : row_(&row), group_(row.group) {
  if (record::Powers touched{}; record::read_powers(row.touched_before, touched)) touched_before_ = touched;
  if (!has_slots(row)) return;
  if (row.group.slots && *row.group.slots > 0) {
    wrong_column_ = read_group();
    complete_ = *wrong_column_ == 0;
  }
  lanes_ = lanes_of(row.target);
  double slots = 0;
  for (auto const& n : row.slots) slots += n.value_or(0);
  double const mean = slots / std::max<double>(1, static_cast<double>(row.groups_total));
  if (complete_) {
    scale_ = mean / *row.group.slots;
    scale_copies();
  } else if (mean > 0) {
    estimate_group(mean);
  }
  estimated_ = !complete_ && mean > 0;
  if (std::vector<double> updated; read_unions(group_.atomic_unions, grid_groups(), updated) && !updated.empty())
    atomic_sectors_ = updated.back();
  load_sectors_ = std::accumulate(load_parts_.begin(), load_parts_.end(), 0.0);
  store_sectors_ = std::accumulate(store_parts_.begin(), store_parts_.end(), 0.0);
}

std::array<double, 3> Kernel::grid_sizes() const {
  return {static_cast<double>(row_->grid_x), static_cast<double>(row_->grid_y), static_cast<double>(row_->grid_z)};
}

double Kernel::grid_groups() const {
  auto const sizes = grid_sizes();
  return sizes[0] * sizes[1] * sizes[2];
}

char const* Kernel::read_group() {
  auto const requests = [](std::string const& text, std::vector<Request>& out) {
    return read_histogram(text, [&](std::string_view key, double n) {
      std::array<double, 3> shape{};
      if (!read_numbers(key, shape)) return false;
      out.push_back({shape[0], shape[1], shape[2], n});
      return true;
    });
  };
  auto const shared = [&](std::string const& text) {
    return read_histogram(text, [&](std::string_view key, double n) {
      double clocks = 0;
      if (!read_numbers(key, {&clocks, 1})) return false;
      shared_.emplace_back(clocks, n);
      return true;
    });
  };
  auto const& g = group_;
  double const groups = grid_groups();
  auto const reuse = [&] {
    return read_histogram(g.reuse, [&](std::string_view key, double n) {
      double bucket = 0;
      if (!read_numbers(key, {&bucket, 1}) || bucket > 60) return false;
      if (bucket == past_l1_bucket)
        past_l1_ += n;
      else
        reuse_.emplace_back(std::exp2(bucket), n);
      return true;
    });
  };
  if (!requests(g.load_requests, loads_)) return "group_load_requests";
  if (!requests(g.store_requests, stores_)) return "group_store_requests";
  if (!requests(g.local_requests, locals_)) return "group_local_requests";
  if (!requests(g.local_stores, local_stores_)) return "group_local_stores";
  if (!record::read_by_axes(g.load_sectors, load_parts_)) return "group_load_sectors";
  if (!record::read_by_axes(g.store_sectors, store_parts_)) return "group_store_sectors";
  if (!record::read_by_axes(g.load_lines, load_lines_)) return "group_load_lines";
  if (!record::read_by_axes(g.store_lines, store_lines_)) return "group_store_lines";
  if (!read_unions(g.load_unions, groups, load_unions_)) return "group_load_unions";
  if (!read_unions(g.store_unions, groups, store_unions_)) return "group_store_unions";
  if (!record::read_phases(g.phases, phases_)) return "group_phases";
  if (!shared(g.shared_loads)) return "group_shared_loads";
  if (!shared(g.shared_stores)) return "group_shared_stores";
  return reuse() ? "" : "group_reuse";
}

// Of a cluster, one group may ask copy engines for what all of them get: what such groups load is that of the mean.
void Kernel::scale_copies() {
  if (std::ranges::none_of(loads_, &Request::by_engine) || scale_ <= 0) return;
  double asked = 0;
  for (auto const& r : loads_) asked += r.count * r.sectors;
  double const mean = row_->global_load_tx[1][0] / std::max<double>(1, static_cast<double>(row_->groups_total));
  if (asked <= 0 || mean <= 0) return;
  double const part = mean / (asked * scale_);
  for (auto& r : loads_) r.count *= part;
  for (auto* const parts : {&load_parts_, &load_lines_})
    for (double& n : *parts) n *= part;
  past_l1_ *= part;
  for (auto& [distance, n] : reuse_) n *= part;
}

// What the totals tell of a mean group, where none was profiled: all requests of one shape, what they touch shared by
// no other group, and each instruction in need of the one before.
void Kernel::estimate_group(double slots) {
  auto const& row = *row_;
  auto const groups = std::max<double>(1, static_cast<double>(row.groups_total));
  double const waves = std::ceil(static_cast<double>(row.block_x * row.block_y * row.block_z) / warp);
  double const bytes = row.global_load_bytes + row.global_store_bytes + row.shared_load_bytes + row.shared_store_bytes +
                       row.local_load_bytes + row.local_store_bytes + 1;
  double const requests = row.slots[Pipe::memory].value_or(0) / groups;
  double const moved = row.global_load_bytes + row.global_store_bytes + 1;
  auto const share = [&](double moved_bytes, std::array<double, 3> const& tx, std::vector<Request>& list,
                         record::ByAxes& parts) {
    double const count = std::max(1e-9, requests * moved_bytes / bytes);
    double const lines = tx[2] / groups, sectors = tx[0] / groups;
    if (sectors > 0) list.push_back({lines / count, sectors / count, 1, count});
    parts[7] = std::min(sectors, row.global_footprint_bytes / sector_bytes / groups * moved_bytes / moved);
  };
  share(row.global_load_bytes, row.global_load_tx[1], loads_, load_parts_);
  share(row.global_store_bytes, row.global_store_tx[1], stores_, store_parts_);
  load_lines_[7] = load_parts_[7] / 4, store_lines_[7] = store_parts_[7] / 4;
  group_ = {};
  group_.slots = slots;
  group_.shared_requests = requests * (row.shared_load_bytes + row.shared_store_bytes) / bytes;
  group_.path[Step::arithmetic] = slots / waves;
  double const rounds = row.global_load_rounds.value_or(0) / groups / (waves * warp);
  double const fresh = loads_.empty() ? 0 : load_parts_[7] / (loads_[0].sectors * loads_[0].count);
  group_.path[Step::miss] = rounds * fresh;
  group_.path[Step::hit] = rounds * (1 - fresh);
}

void Kernel::check(record::Reader<record::Kernel> const& rows, record::Kernel const& row) {
  panwar::check(rows, row);
  bool const has_group = row.group.slots && *row.group.slots > 0 && has_slots(row);
  if (has_group)
    if (Kernel const kernel(row); !kernel.complete_)
      throw rows.error(kernel.wrong_column_, "this is not a histogram",
                       "key:count joined by ';', as miniemu writes it");
  if (!row.library.empty() && !is_library_call(row))
    throw rows.error("library", fmt::format("'{}' is no call of a library", row.library),
                     "operation:type:sizes, such as gemm:f32:64x64x64x1, and the column library_flop");
  if (record::Powers touched{}; !row.touched_before.empty() && !record::read_powers(row.touched_before, touched))
    throw rows.error("touched_before", "this is not a histogram", record::powers_hint);
  if (!record::read_histogram(row.matrix_flop, [](std::string_view kind, double) { return !kind.empty(); }))
    throw rows.error("matrix_flop", "this is not a histogram", "kind:operations joined by ';', as miniemu writes it");
}

record::Stations explanation(Terms const& t) {
  auto const& p = t.projection;
  record::Stations out;
  out.kernel = p.kernel;
  out.case_name = p.case_name;
  out.device = p.device;
  out.time_s = p.time_s;
  out.limiter = p.limiter;
  out.status = p.status;
  out.reason = p.reason;
  out.occupancy = p.occupancy;
  out.bound = t.common.occupancy.bound;
  out.registers = t.common.registers;
  if (!p.time_s) return out;
  out.clock_hz = t.common.clock_hz;
  if (t.service == 0) return out;  // projected as by panwar
  for (auto const one : record::values_of<Station>) out.station_s[one] = t.stations[one];
  out.service_s = t.service;
  out.latency_s = t.latency;
  out.customers = t.customers;
  out.groups_of_unit = t.groups_of_unit;
  out.queue_s = t.queue;
  out.longest_s = t.longest;
  out.atomics_s = t.atomics;
  out.start_s = t.start;
  out.launch_s = t.launch;
  out.l2_bytes = t.l2_bytes;
  out.dram_bytes = t.dram_bytes;
  return out;
}

}  // namespace kernelcast::model::queue
