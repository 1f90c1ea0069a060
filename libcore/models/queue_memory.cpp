#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "models/projector.hpp"
#include "models/rates.hpp"

namespace kernelcast::model::queue {

// Sectors that a group loads again because a cache of so many bytes has lost them; `growth`: distinct memory of all
// that share the cache over that of the group.
double Projector::load_misses(double capacity_bytes, double growth) const {
  double const capacity = capacity_bytes / sector_bytes / std::max(1.0, growth);
  double misses = 0;
  for (auto const& [end, n] : k_.reuse_) {
    double const begin = end / 2;
    misses += n * std::clamp((end - capacity) / std::max(1.0, end - begin), 0.0, 1.0);
  }
  return misses;
}

// Sectors that so many groups one after the other in the grid touch.
double Projector::group_union(record::ByAxes const& parts, double groups) const {
  return record::union_of(parts, k_.grid_sizes(), groups);
}

// The same, where it is known for each power of two.
double Projector::union_of(std::vector<double> const& unions, double groups) const {
  auto const k = std::min(static_cast<std::size_t>(std::max(0, std::ilogb(groups))), unions.size() - 1);
  if (k + 1 == unions.size()) return unions[k];
  double const begin = std::exp2(k), end = std::min(2 * begin, grid_groups_);
  return unions[k] + (unions[k + 1] - unions[k]) * std::clamp((groups - begin) / (end - begin), 0.0, 1.0);
}

// So many groups, one after the other, touch what the cache holds.
double Projector::groups_held(double cache_bytes) const {
  auto const& loads = k_.load_unions_;
  auto const& stores = k_.store_unions_;
  double const capacity = cache_bytes / sector_bytes;
  for (std::size_t k = 0; k + 1 < loads.size(); ++k) {
    double const at = loads[k] + stores[k], next = loads[k + 1] + stores[k + 1];
    if (next <= capacity) continue;
    double const begin = std::exp2(k), end = std::min(2 * begin, grid_groups_);
    return begin + (end - begin) * std::clamp((capacity - at) / (next - at), 0.0, 1.0);
  }
  return grid_groups_;
}

// Sectors that come from memory for all groups of a launch: each group brings what those just before it, whose data the
// cache holds, have not touched. Those that run together share all the same.
double Projector::distinct_of_launch(std::vector<double> const& unions, double held) const {
  double const together = std::min(groups_, resident_ * units_);
  if (held >= grid_groups_) return unions.back();
  auto const k = std::min(static_cast<std::size_t>(std::max(0, std::ilogb(held))), unions.size() - 2);
  double const begin = std::exp2(k), end = std::min(2 * begin, grid_groups_);
  double each = (unions[k + 1] - unions[k]) / (end - begin);
  if (held < together) each = std::min(each, union_of(unions, together) / together);
  return std::max(union_of(unions, held) + each * (grid_groups_ - held), unions.back());
}

// Sectors that come from memory for all groups of a launch.
double Projector::distinct_of_launch(record::ByAxes const& parts, double cache_bytes) const {
  auto const size = k_.grid_sizes();
  std::array<double, 3> const stride{1, size[0], size[0] * size[1]};
  double const together = resident_ * units_;
  std::array<bool, 3> lost{};  // what groups along this axis share is not there any more when the next one comes
  for (unsigned i = 0; i < 3; ++i) {
    double const between =
        (group_union(k_.load_parts_, stride[i]) + group_union(k_.store_parts_, stride[i])) * sector_bytes;
    lost[i] = size[i] > 1 && stride[i] > together && between > cache_bytes;
  }
  double sum = 0;
  for (unsigned a = 0; a < 8; ++a) {
    double n = 1;
    for (unsigned i = 0; i < 3; ++i)
      if (a >> i & 1)
        n *= size[i];
      else if (lost[i])
        n *= std::max(1.0, size[i] / std::max(1.0, together / stride[i]));
    sum += parts[a] * std::min(n, groups_);
  }
  return sum;
}

// Memory gives more than the sectors that are asked for where the groups that run together touch parts of lines, unless
// the rest is still in the cache when others come for it: by how much more it moves.
double Projector::fetched_in_vain(record::ByAxes const& sectors, record::ByAxes const& lines) const {
  double const together = std::max(1.0, resident_ * units_ * c_.line_part);
  double const touched = group_union(sectors, together);
  if (touched <= 0) return 1;
  double const parts = std::clamp(4 * group_union(lines, together) / touched, 1.0, c_.line_most);
  double const footprint = row_.global_footprint_bytes;
  double const l2 = device_.l2_bytes.value_or(0);
  return 1 + (parts - 1) * (footprint > l2 ? 1 - l2 / footprint : 0);
}

// Sectors of requests as the second-level cache serves them: a part of it looks up one line a clock and gives two
// sectors.
double Projector::looked_up(std::vector<Kernel::Request> const& requests) const {
  double sectors = 0, served = 0;
  for (auto const& r : requests) {
    sectors += r.count * r.sectors;
    served += r.count * std::max(r.sectors, c_.sectors_per_lookup * r.lines);
  }
  return sectors > 0 ? served / sectors : 1;
}

// Of what a launch touches, those bytes that a cache holds when it begins: the mean of the launches.
double Projector::held_bytes(double capacity_bytes) const {
  if (!knows_program()) return 0;
  double held = 0;
  for (std::size_t k = 0; k < k_.touched_before_->size(); ++k) {
    double const end = std::exp2(k), begin = k == 0 ? 0 : end / 2;
    held += (*k_.touched_before_)[k] * std::clamp((capacity_bytes - begin) / (end - begin), 0.0, 1.0);
  }
  return std::min(held / launches_, row_.global_footprint_bytes);
}

Projector::FirstLevel Projector::first_level() const {
  auto const& g = k_.group_;
  FirstLevel out;
  double const own = k_.load_sectors_;
  double const unified = device_.l1_per_cu_bytes.value_or(0);
  double const shared_used = resident_ * static_cast<double>(row_.shared_bytes);
  out.bytes = std::max(unified - shared_used, 0.1 * unified) * c_.cache_part;
  out.together = std::min(groups_, resident_ * units_);
  out.textures = row_.texture_bytes / groups_total_ / sector_bytes;

  // Private memory lives in the first-level cache as far as that holds it; where that is written through, its stores
  // are asked of the second level besides.
  double const local_bytes = g.local_lines.value_or(0) * 4 * sector_bytes;
  double const local_held = local_bytes * terms_.customers;
  double const local_issued = sectors_of(k_.locals_);
  out.local_missed = local_held > out.bytes ? local_issued * (1 - out.bytes / local_held) : 0;
  if (local_issued > 0)
    out.local_through = c_.local_write_through * sectors_of(k_.local_stores_) * (1 - out.local_missed / local_issued);
  out.local_together = local_bytes * out.together;

  out.growth = own > 0 ? (k_.load_parts_[0] + (own - k_.load_parts_[0]) * terms_.customers) / own : 1;
  if (c_.first_level <= 0) {  // each request passes it by
    out.lost = load_misses(0, 1);
    out.loads = std::max(own, sectors_of(k_.loads_));
    return out;
  }
  // What misses it comes with its neighbours.
  double const lines = std::accumulate(k_.load_lines_.begin(), k_.load_lines_.end(), 0.0);
  double const filled = own > 0 ? std::max(1.0, std::min(c_.fill_sectors, 4 * lines / own)) : 1;
  out.lost = load_misses(std::max(0.1 * out.bytes, out.bytes - local_held), out.growth);
  out.loads = (own + out.lost) * filled + k_.past_l1_;
  return out;
}

// What passes a cache that all units share.
Projector::Moved Projector::moved_past(double capacity_bytes, FirstLevel const& first) const {
  double const cache = capacity_bytes * c_.cache_part, own = k_.load_sectors_;
  double const local =
      first.local_together > cache ? first.local_missed * (1 - cache / first.local_together) * k_.scale_ : 0;
  bool const knows_unions = !k_.load_unions_.empty() && k_.load_unions_.size() == k_.store_unions_.size();
  double const loaded_together =
      knows_unions ? union_of(k_.load_unions_, first.together) : group_union(k_.load_parts_, first.together);
  double const growth = own > 0 ? loaded_together / own : 1;
  double const again = std::min(first.lost, load_misses(std::max(cache, first.bytes), std::max(growth, first.growth))) *
                       k_.scale_ * groups_;
  double const more_read = fetched_in_vain(k_.load_parts_, k_.load_lines_);
  double const more_written = fetched_in_vain(k_.store_parts_, k_.store_lines_);
  double const footprint = row_.global_footprint_bytes;
  double const group_held = knows_unions ? groups_held(cache) : 0;
  auto const distinct = [&](auto const& unions, auto const& parts, double of_group) {
    double const sectors = cache <= 0     ? of_group * groups_  // they share nothing
                           : knows_unions ? distinct_of_launch(unions, group_held)
                                          : distinct_of_launch(parts, cache);
    return sectors * k_.scale_;
  };
  double const first_loads = more_read * distinct(k_.load_unions_, k_.load_parts_, own);
  double const first_stores = more_written * distinct(k_.store_unions_, k_.store_parts_, k_.store_sectors_);
  // What the cache holds when the launch begins: of what is loaded, the rest of what is stored alone, which is not
  // moved either while the program goes on writing it there, as that is not of what is loaded and stored.
  double const held = held_bytes(cache);
  double const held_loads = std::min(held, first_loads * sector_bytes);
  double const both =
      std::clamp((first_loads + first_stores) * sector_bytes - footprint, 0.0, first_stores * sector_bytes);
  double const held_stores =
      std::min(first_stores * sector_bytes, held - held_loads + (held > 0 ? both * held / footprint : 0));
  Moved out;
  out.read = (first_loads + again + (first.textures + local / 2) * groups_) * sector_bytes - held_loads;
  out.written = (first_stores + local / 2 * groups_) * sector_bytes - held_stores;
  // What fits is fetched once, whatever groups far from each other share.
  double const fetched = footprint <= cache ? std::min(out.read, footprint) : out.read;
  double const dirty = std::min(c_.dirty_most * out.written, c_.dirty_part * capacity_bytes);
  double const most =
      (more_read * first.loads + more_written * k_.store_sectors_ + first.textures + local / k_.scale_) * k_.scale_ *
      groups_ * sector_bytes;
  out.bytes = std::min(fetched + out.written, std::max(most, 0.0)) - dirty;
  out.writing = fetched + out.written > 0 ? out.written / (fetched + out.written) : 0;
  return out;
}

void Projector::caches() {
  auto const first = first_level();
  double const stored = sectors_of(k_.stores_);
  double const loads = first.loads * k_.scale_ + first.textures;
  bool const whole = c_.first_level > 0 && c_.fill_sectors >= c_.sectors_per_lookup;
  double const l2_sectors = first.loads * (whole ? 1 : looked_up(k_.loads_)) * k_.scale_ + first.textures +
                            stored * looked_up(k_.stores_) * k_.scale_ +
                            (first.local_missed + first.local_through) * k_.scale_ + of_group(k_.group_.atomic_sectors);
  terms_.l2_bytes = l2_sectors * sector_bytes * groups_;
  double const l2_rate = l2_bytes_per_s(device_, f_, c_);
  // What all units share serves the groups of a last, smaller wave faster.
  double const sharing = groups_ / terms_.groups_of_unit;
  station(Station::l2) =
      std::max(l2_sectors * sector_bytes * sharing / l2_rate, l2_sectors * sector_bytes / (c_.l2_port_bytes * f_));

  double const l2 = device_.l2_bytes.value_or(0), l3 = device_.l3_bytes.value_or(0);
  auto const past_l2 = moved_past(l2, first);
  auto const moved = l3 > l2 ? moved_past(l3, first) : past_l2;
  terms_.dram_bytes = moved.bytes;
  double const time_of_byte = dram_s_per_byte(device_, moved.writing, c_);
  l3_s_ = l3 > l2 && device_.l3_bandwidth_bytes_per_s
              ? past_l2.bytes / groups_ * sharing / *device_.l3_bandwidth_bytes_per_s
              : 0;
  station(Station::dram) = std::max(moved.bytes / groups_ * sharing * time_of_byte, l3_s_);
  double const again = load_misses(0, 1);
  lost_ = again > 0 ? first.lost / again : 0;
  auto const part_of_loads = [&](double read) {
    return loads > 0 ? std::min(1.0, read / (loads * groups_ * sector_bytes)) : 1;
  };
  from_memory_ = part_of_loads(moved.read);
  from_l3_ = l3 > l2 ? std::max(0.0, part_of_loads(past_l2.read) - from_memory_) : 0;
}

double Projector::global_atomics() const {
  auto const& g = k_.group_;
  if (g.atomic_requests.value_or(0) <= 0) return 0;
  // Without their lines, what they update is taken to be close together.
  double const sectors = of_group(g.atomic_sectors) * groups_;
  double const lines = g.atomic_lines ? of_group(g.atomic_lines) * groups_ : sectors / 4;
  double const same = std::min(row_.atomic_max_same_address / launches_, of_group(g.atomic_serial) * groups_);
  double const bytes = k_.atomic_sectors_ * sector_bytes;
  return global_atomics_s({same, lines, of_group(g.atomic_wide_lanes) * groups_, bytes}, device_, f_, c_);
}

}  // namespace kernelcast::model::queue
