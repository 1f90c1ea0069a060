#include "models/queue.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "models/libraries.hpp"
#include "models/rates.hpp"

namespace kernelcast::model::queue {

namespace {

using device::Device;
using record::Limiter, record::Pipe, record::ResidualModel, record::RowStatus, record::Step;

// Throughput of `few` and of `all` customers that take turns at one station and a delay: exact mean-value analysis.
std::pair<double, double> throughput(double delay, double service, double few, double all) {
  double queue = 0, x = 0, x_few = 0;
  auto const first = static_cast<unsigned>(few), whole = static_cast<unsigned>(all);
  for (unsigned i = 1; i <= whole; ++i) {
    double const response = service * (1 + queue);
    x = i / (delay + response);
    queue = x * response;
    if (i == first) x_few = x;
  }
  return {x_few, x};
}

constexpr double shared_bytes_per_cycle = 128;  // of a unit that has copy engines or matrix units which use it
constexpr double words_together = 5;            // sectors of 32 neighbouring words, wherever they begin

bool has_queue(Device const& device) {
  return !device.pipes.empty();
}

// Of an architecture: those of all, unless it has its own.
Constants constants_on(Device const& device, Constants of_all) {
  for (auto const& [constant, value] : device.constants) of_all.*constant = value;
  return of_all;
}

}  // namespace

class Projector {
 public:
  Projector(Kernel const& kernel, Device const& device, Options const& options, Terms& terms)
      : k_(kernel),
        row_(*kernel.row_),
        device_(device),
        options_(options),
        c_(constants_on(device, options.constants)),
        terms_(terms) {}

  void run();

 private:
  enum class Held : std::uint8_t { nowhere, in_l2, in_l3 };  // all that a launch touches, when it begins
  // Sectors of a group unless it says otherwise.
  struct FirstLevel {
    double bytes = 0;     // that the cache has for loads
    double together = 1;  // groups on all units
    double growth = 1;    // what the groups of a unit load over what one does
    double lost = 0;      // loaded again because it was lost
    double loads = 0;     // asked of the second level
    double textures = 0;
    double local_missed = 0, local_together = 0;  // private memory: missed; of all groups together, bytes
    double local_through = 0;                     // stored to the second level although the first has it
  };
  // Bytes of a launch.
  struct Moved {
    double read = 0, written = 0;  // before what stays in the cache at the end
    double bytes = 0;              // moved
    double writing = 0;            // of these, the part that is written
  };

  // Of a group, in wavefronts of 32.
  double slots(Pipe pipe) const { return row_.slots[pipe].value_or(0) / groups_total_ * k_.lanes_ / warp; }
  double of_group(std::optional<double> const& value) const { return value.value_or(0) * k_.scale_; }
  static double sectors_of(std::vector<Kernel::Request> const& requests) {  // asked for
    double sum = 0;
    for (auto const& r : requests) sum += r.count * r.sectors;
    return sum;
  }
  double& station(Station s) { return terms_.stations[s]; }

  bool has_slow_fp64() const { return device_.throughput[record::InstructionClass::fp64].value_or(2) <= 4; }

  void set_up();
  double packed_part(record::PipeRule const&) const;
  void pipes();
  double shared_passes() const;
  double request_cycles(Kernel::Request const&, double min) const;
  double copied_bytes() const;
  void load_store();
  double load_misses(double capacity_bytes, double growth) const;
  double group_union(record::ByAxes const& parts, double groups) const;
  double union_of(std::vector<double> const& unions, double groups) const;
  double groups_held(double cache_bytes) const;
  double distinct_of_launch(record::ByAxes const& parts, double cache_bytes) const;
  double distinct_of_launch(std::vector<double> const& unions, double held) const;
  double fetched_in_vain(record::ByAxes const& sectors, record::ByAxes const& lines) const;
  double looked_up(std::vector<Kernel::Request> const& requests) const;
  bool knows_program() const { return options_.caches == Caches::program && k_.touched_before_; }
  double held_bytes(double capacity_bytes) const;
  FirstLevel first_level() const;
  Moved moved_past(double capacity_bytes, FirstLevel const&) const;
  void caches();
  struct Demand {
    double sum = 0, service = 0, issued = 0;  // of all stations; b; a wavefront's instructions one by one
  };
  Demand demand_of(record::PerValue<Station, double> const& stations, double engines, double factors,
                   double slots) const;
  struct Chain {
    double seconds = 0;
    double waits = 1;  // as many of one length are as uneven as these
  };
  Chain chain(record::PerValue<Step, double> const& steps) const;
  double delay_of(Demand const&, double chain) const;
  double phases() const;
  double global_atomics() const;
  void one_launch(Held);
  Limiter limiter() const;  // of executing
  void finish();

  Kernel const& k_;
  record::Kernel const& row_;
  Device const& device_;
  Options const& options_;
  Constants c_;
  Terms& terms_;
  double f_ = 1, slower_ = 1;  // clock; the one at which the database's figures of caches were measured over it
  double wave_ = warp;         // lanes of a wavefront
  double units_ = 1, active_ = 1, groups_ = 1, grid_groups_ = 1, groups_total_ = 1, resident_ = 1, waves_ = 1,
         launches_ = 1;
  double issued_ = 0;                     // slots of a group
  double engines_ = 0;                    // what copy engines and matrix units take of shared memory, seconds
  double factors_ = 0;                    // of these, what matrix units read while they multiply
  std::string no_rate_;                   // a kind of matrix products whose rate is not known
  double from_memory_ = 1, from_l3_ = 0;  // parts of the misses that reach memory, and the last-level cache before it
  double lost_ = 0;  // part of what a group loads again: the first-level cache does not have it any more
  double l3_s_ = 0;  // what a group takes of the last-level cache
};

void Projector::set_up() {
  auto const& common = terms_.common;
  f_ = common.clock_hz;
  slower_ = device_.clock_hz.value_or(f_) / f_;
  wave_ = static_cast<double>(device_.rule.wave_width.value_or(warp));
  units_ = static_cast<double>(*device_.compute_units);
  launches_ = std::max<double>(1, static_cast<double>(row_.launches));
  groups_total_ = std::max<double>(1, static_cast<double>(row_.groups_total));
  groups_ = common.groups_per_launch;
  grid_groups_ = k_.grid_groups();
  active_ = std::min(units_, std::ceil(groups_));
  resident_ = static_cast<double>(common.occupancy.groups_per_cu);
  waves_ = std::max<double>(1, static_cast<double>(common.occupancy.waves_per_group));
  terms_.groups_of_unit = std::ceil(groups_ / active_);
  terms_.customers = std::min(resident_, terms_.groups_of_unit);
}

// Of a VLIW's lanes, those that its bundles fill; the classes of one lane alone have that.
double Projector::packed_part(record::PipeRule const& rule) const {
  double const lanes = device_.vliw_slots.value_or(1);
  if (lanes <= 1 || device_.throughput[rule.throughput] != device_.throughput[record::InstructionClass::fp32]) return 1;
  return std::min(1.0, row_.vliw_ops_per_bundle.value_or(1) / lanes);
}

void Projector::pipes() {
  using enum record::InstructionClass;
  for (Pipe const pipe : record::values_of<Pipe>) issued_ += slots(pipe);
  if (device_.vliw_slots.value_or(1) > 1) issued_ /= row_.vliw_ops_per_bundle.value_or(1);
  station(Station::issue) =
      (issued_ * warp / (device_.throughput_issue.value_or(128) * c_.issues) + c_.wave_cycles * waves_) / f_;
  for (auto const& rule : device_.pipes) {
    double const otherwise = rule.throughput == fp64 ? 2 : rule.throughput == special ? 16 : 64;
    double const rate = device_.throughput[rule.throughput].value_or(otherwise) / rule.results * packed_part(rule);
    double const part = rule.pipe == Pipe::fp64 && has_slow_fp64() ? c_.fp64_slow_part : 1;
    if (rate > 0) station(rule.station) += slots(rule.pipe) * warp / (rate * part) / f_;
  }
  record::read_histogram(row_.matrix_flop, [&](std::string_view kind, double flop) {
    auto const* const rule = device_.matrix_rule(kind);
    if (rule && rule->flop_per_cycle)
      station(Station::tensor) += flop / groups_total_ / *rule->flop_per_cycle / f_;
    else if (no_rate_.empty())
      no_rate_ = kind;
    return true;
  });
}

// Of a group, by the load/store unit: 16 banks serve half a wavefront at a time, others 32 lanes.
double Projector::shared_passes() const {
  std::size_t const lanes = device_.shared_banks == 16 ? 0 : 1;
  std::size_t const banks = lanes == 0 ? 0 : device_.shared_bank_bytes == 8 ? 2 : 1;
  double const passes = row_.shared_load_passes[lanes][banks] + row_.shared_store_passes[lanes][banks];
  double const bytes_of_pass = lanes == 0 ? 64 : banks == 2 ? 256 : 128;
  double const engines = of_group(k_.group_.shared_engine_bytes) / bytes_of_pass;
  return std::max(0.0, passes / groups_total_ - engines);
}

// Of the load/store unit, for 32 lanes; `min`: of one whose lanes lie together.
double Projector::request_cycles(Kernel::Request const& r, double min) const {
  if (r.by_engine()) return 0;
  if (c_.scatter_cycles <= 0 || r.sectors <= words_together) return std::max({min, r.degree, r.lines / c_.tag_lines});
  // Whole lines, of wider words: 32 bytes a clock.
  if (r.degree >= r.lines && r.sectors >= 3.5 * r.lines) return std::max(min, r.sectors);
  return std::min(warp, c_.scatter_cycles * std::max(r.degree, std::min(2.0, r.lines / 3)));
}

// By copy engines, between global and shared memory.
double Projector::copied_bytes() const {
  double sectors = 0;
  for (auto const* const list : {&k_.loads_, &k_.stores_})
    for (auto const& r : *list) sectors += r.by_engine() ? r.count * r.sectors : 0;
  return sectors * sector_bytes * k_.scale_;
}

void Projector::load_store() {
  auto const& g = k_.group_;
  auto const requests = [&](auto const& list, double min, double min_of_line) {
    double sum = 0;
    for (auto const& r : list) sum += r.count * request_cycles(r, r.lines > 1 ? min : min_of_line);
    return sum * k_.scale_;
  };
  auto const loads = [&](auto const& list) { return requests(list, c_.load_cycles, c_.load_line_cycles); };
  // With 32 banks of words, and an assembler that joins loads of neighbouring words, each request by itself.
  double shared = 0;
  if (c_.shared_joined > 0 && !k_.shared_.empty())
    for (auto const& [clocks, n] : k_.shared_)
      shared += n * k_.scale_ * std::max(c_.shared_cycles, c_.shared_pass_cycles * clocks);
  else
    shared = std::max(c_.shared_cycles * of_group(g.shared_requests), c_.shared_pass_cycles * shared_passes());
  shared *= device_.shared_slowdown();
  double const shared_atomics = std::max({c_.shared_atomic_cycles * of_group(g.shared_atomic_requests),
                                          c_.shared_atomic_cycles * of_group(g.shared_atomic_passes),
                                          c_.shared_atomic_same_cycles * of_group(g.shared_atomic_serial)});
  double const local = loads(k_.locals_);
  double const moved = of_group(g.shared_engine_bytes);
  engines_ = moved / (shared_bytes_per_cycle * f_);
  factors_ = station(Station::tensor) > 0 ? std::max(0.0, moved - copied_bytes()) / (shared_bytes_per_cycle * f_) : 0;
  station(Station::shared) = (shared + shared_atomics) / f_ + engines_;
  station(Station::lsu) =
      (loads(k_.loads_) + requests(k_.stores_, c_.store_cycles, c_.store_cycles) +
       c_.shared_in_lsu * (shared + shared_atomics) + local + c_.constant_cycles * of_group(g.constant_requests) +
       c_.texture_cycles * of_group(g.texture_requests) + c_.atomic_request_cycles * of_group(g.atomic_requests)) /
      f_;
}

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

// Of the mean group: the results of the one profiled that need each other, one after the other.
Projector::Chain Projector::chain(record::PerValue<Step, double> const& path) const {
  double const l1_s = device_.l1_latency_s ? *device_.l1_latency_s * slower_ : c_.hit_cycles / f_;
  double const stated_l2_s = device_.l2_latency_s.value_or(c_.l2_latency_s), l2_s = stated_l2_s * slower_;
  double const memory_s = device_.global_latency_s.value_or(c_.dram_latency_s) + l2_s - stated_l2_s;
  double const l3_s = device_.l3_latency_s.value_or(memory_s);
  double const hit_s = l1_s + lost_ * std::max(0.0, l2_s - l1_s);
  double const miss_s = from_memory_ * memory_s + from_l3_ * l3_s + (1 - from_memory_ - from_l3_) * l2_s;
  record::PerValue<Step, double> const takes{
      {c_.arithmetic_cycles / f_, (has_slow_fp64() ? c_.fp64_slow_cycles : c_.fp64_cycles) / f_, c_.special_cycles / f_,
       c_.constant_latency_cycles / f_, c_.shared_latency_cycles / f_, hit_s, miss_s, c_.barrier_cycles / f_}};
  double sum = 0, squares = 0;
  for (auto const step : record::values_of<Step>) {
    sum += path[step] * takes[step];
    squares += path[step] * takes[step] * takes[step];
  }
  return {sum * k_.scale_, squares > 0 ? std::max(1.0, sum * sum / squares) : 1};
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

// What a group, or a part of one, asks of the stations together; `engines` and `factors` of it as engines_ and
// factors_.
Projector::Demand Projector::demand_of(record::PerValue<Station, double> const& stations, double engines,
                                       double factors, double slots) const {
  Demand out;
  // Shared memory is part of the load/store unit: it has a station of its own to be named. An instruction that has its
  // pipe has the scheduler: that counts as far as it is busier than any pipe.
  // It is one to count where engines use it besides; what the load/store unit takes of it then counts once.
  bool const apart = c_.shared_in_lsu <= 0 || engines > 0;
  double const twice = c_.shared_in_lsu * (stations[Station::shared] - engines);
  double most = 0, norm = 0, busiest_pipe = 0;
  for (auto const one : record::values_of<Station>)
    if (one != Station::shared || apart) out.sum += stations[one], most = std::max(most, stations[one]);
  if (apart) out.sum -= twice;
  // A matrix unit reads factors while it multiplies: that is one visit, as long as the longer of both.
  double const product = std::max(stations[Station::tensor], factors);
  out.sum -= stations[Station::tensor] + factors - product;
  for (auto const one :
       {Station::fp32, Station::imad, Station::integer, Station::fp64, Station::special, Station::lsu, Station::tensor})
    busiest_pipe = std::max(busiest_pipe, stations[one]);
  for (auto const one : record::values_of<Station>) {
    double const busy = one == Station::issue    ? std::max(0.0, stations[one] - busiest_pipe)
                        : one == Station::tensor ? product
                        : one == Station::shared ? stations[one] - factors
                                                 : stations[one];
    if ((one != Station::shared || apart) && busy > 0) norm += std::pow(busy / most, c_.norm);
  }
  out.service = std::max(most, most * std::pow(norm, 1 / c_.norm));
  out.issued = c_.wave_issue_cycles * slots * warp / wave_ / waves_ / f_;
  return out;
}

// What a group waits for besides the busiest station.
double Projector::delay_of(Demand const& d, double chain) const {
  return std::max(chain + std::max(0.0, d.sum - d.service) / waves_, d.issued - d.service);
}

// A group alone, from barrier to barrier.
double Projector::phases() const {
  using enum record::Work;
  double sum = 0;
  for (auto const& phase : k_.phases_) {
    auto stations = terms_.stations;
    auto const take = [&](Station s, record::Work work) { stations[s] *= phase.part[work] / phase.count; };
    take(Station::issue, issue);
    take(Station::fp32, fp32);
    for (auto const one : {Station::imad, Station::integer}) take(one, integer);
    for (auto const one : {Station::fp64, Station::special, Station::tensor}) take(one, others);
    for (auto const one : {Station::l2, Station::dram}) take(one, sectors);
    double const of_shared = terms_.stations[Station::shared] * c_.shared_in_lsu;
    stations[Station::lsu] =
        (std::max(0.0, terms_.stations[Station::lsu] - of_shared) * phase.part[lsu] + of_shared * phase.part[shared]) /
        phase.count;
    take(Station::shared, shared);
    double const part = phase.part[shared] / phase.count;
    Demand const demand = demand_of(stations, engines_ * part, factors_ * phase.part[others] / phase.count,
                                    issued_ * phase.part[issue] / phase.count);
    auto const [waiting, waits] = chain(phase.steps);
    if (demand.sum <= 0) {
      sum += phase.count * waiting;
      continue;
    }
    double const delay = delay_of(demand, waiting);
    double const alone = waves_ / throughput(delay, demand.service / waves_, waves_, waves_).first;
    // A barrier lets all go at once: they meet at the stations, and wait together, until they have drifted apart.
    sum += phase.count * std::min(delay + demand.service, alone + std::min(waiting, demand.service) / waits);
  }
  return sum;
}

// Without what starts cold; `held`: the second-level cache holds all of its data, or the last-level cache does.
void Projector::one_launch(Held held) {
  double const memory = station(Station::dram), from_memory = from_memory_, from_l3 = from_l3_;
  if (held == Held::in_l2) station(Station::dram) = 0, from_memory_ = from_l3_ = 0;
  if (held == Held::in_l3) station(Station::dram) = l3_s_, from_l3_ += from_memory_, from_memory_ = 0;
  Demand const demand = demand_of(terms_.stations, engines_, factors_, issued_);
  terms_.service = demand.service;
  record::PerValue<Step, double> path;
  for (auto const step : record::values_of<Step>) path[step] = k_.group_.path[step].value_or(0);
  double const begins = c_.group_delay_cycles / f_;
  double parts = 1;
  if (k_.phases_.empty()) {
    // Wavefronts of a group overlap each other: a group is so many customers.
    terms_.latency = delay_of(demand, begins + chain(path).seconds);
    parts = waves_;
  } else {
    terms_.latency = std::max(0.0, begins + phases() - demand.service);
  }
  auto const [alone, x] = throughput(terms_.latency, terms_.service / parts, parts, terms_.customers * parts);
  terms_.queue = x > 0 ? terms_.groups_of_unit * parts / x : 0;
  // The launch lasts as long as its longest group.
  terms_.longest = alone > 0 ? parts / alone / k_.scale_ : 0;
  terms_.atomics = global_atomics();
  station(Station::dram) = memory;
  from_memory_ = from_memory, from_l3_ = from_l3;
}

Limiter Projector::limiter() const {
  double const body = std::max({terms_.queue, terms_.longest, terms_.atomics});
  if (terms_.atomics == body) return Limiter::atomics;
  if (terms_.longest == body || terms_.latency > terms_.customers * terms_.service) return Limiter::latency;
  static constexpr record::PerValue<Station, Limiter> names{
      {Limiter::issue, Limiter::fp32, Limiter::int_, Limiter::int_, Limiter::fp64, Limiter::special, Limiter::lsu,
       Limiter::shared, Limiter::l2, Limiter::dram, Limiter::tensor}};
  auto const& s = terms_.stations;
  auto largest = Station::issue;
  for (auto const one : record::values_of<Station>)
    if (s[one] > s[largest]) largest = one;
  if (largest == Station::lsu && s[Station::shared] > 0.5 * s[Station::lsu]) largest = Station::shared;
  return names[largest];
}

void Projector::finish() {
  auto& p = terms_.projection;
  bool const warm = options_.caches == Caches::warm, program = knows_program();
  auto const fits = [&](auto const& cache) { return row_.global_footprint_bytes <= cache.value_or(0); };
  Held const held = fits(device_.l2_bytes) ? Held::in_l2 : fits(device_.l3_bytes) ? Held::in_l3 : Held::nowhere;
  bool const stays = held != Held::nowhere;
  auto const body = [&] { return std::max({terms_.queue, terms_.longest, terms_.atomics}); };
  double later = 0;  // each launch after the first, which find what it has left
  if (launches_ > 1 && stays && !warm && !program) one_launch(held), later = body();
  one_launch(warm ? held : Held::nowhere);  // the first: its terms remain
  if (!stays || warm || program) later = body();
  // While a first group fetches its code, memory serves what has been asked for.
  double const code = warm || row_.code_fetched == 0U ? 0 : c_.code_s * row_.code_slots.value_or(0);
  double const ramp = warm || groups_ < units_ ? 0 : c_.ramp_s;
  double const first = std::max(body(), terms_.longest + code) + ramp;
  terms_.start = first - body();
  double const executing = first + (launches_ - 1) * later;
  auto const cost =
      options_.has_launch_cost ? options_.common.launch_cost.on(device_) : device_.host_launch_s(c_.launch_s);
  terms_.launch = cost.value_or(0);
  auto const& s = terms_.stations;
  double const of_unit = launches_ * terms_.groups_of_unit;
  auto const at = [&](Station one) { return s[one]; };
  p.t_compute_s = of_unit * std::max({at(Station::issue), at(Station::fp32), at(Station::imad), at(Station::integer),
                                      at(Station::fp64), at(Station::special), at(Station::tensor)});
  p.t_global_s = of_unit * std::max(at(Station::l2), at(Station::dram));
  p.t_shared_s = of_unit * at(Station::shared);
  auto const besides = [&](double one) {
    return options_.launches == Launches::alone ? terms_.launch : std::max(0.0, terms_.launch - one);
  };
  bool const graph = options_.launches == Launches::graph;
  p.t_launch_s = graph ? terms_.launch + (launches_ - 1) * std::min(terms_.launch, c_.graph_node_s)
                       : besides(first) + (launches_ - 1) * besides(later);
  p.time_s = executing + *p.t_launch_s;
  auto const limits = (graph ? *p.t_launch_s > executing : terms_.launch > first) ? Limiter::launch : limiter();
  p.limiter = limits;
  device_.residuals.bound(p, options_.has_launch_cost ? ResidualModel::queue_launches : ResidualModel::queue, limits);
}

void Projector::run() {
  auto& p = terms_.projection;
  p.model = model_name;
  if (p.status != RowStatus::ok) return;
  if (!has_queue(device_) || !(k_.complete_ || k_.estimated_)) {
    if (!p.reason.empty()) p.reason.insert(0, "; ");
    p.reason.insert(0, has_queue(device_) ? "no issue slots: projected as by panwar"
                                          : "no queue of this architecture: projected as by panwar");
    return;
  }
  p.bandwidth_source.clear();
  p.reason = k_.estimated_ ? "no counts of one group: estimated from the totals" : "";
  auto const say = [&](std::string_view why) {
    if (!p.reason.empty()) p.reason += "; ";
    p.reason += why;
  };
  if (device_.shared_slowdown() > 1 && row_.shared_bytes > 0)
    say("measured rates of its shared memory contradict each other: the slower one counts");
  set_up();
  pipes();
  if (!no_rate_.empty()) {
    p.status = RowStatus::unknown;
    p.reason = device::no_matrix_rate(no_rate_);
    p.time_s.reset(), p.time_low_s.reset(), p.time_high_s.reset(), p.limiter = {};
    return;
  }
  load_store();
  caches();
  finish();
  if (!device_.residuals.knows_architecture(ResidualModel::queue)) {
    p.status = RowStatus::unvalidated;
    say(fmt::format("no measurement of {} has tested this model", device_.target));
  }
  if (!std::isfinite(*p.time_s) || *p.time_s <= 0) {
    p.status = RowStatus::unknown;
    p.reason = "the counts are too large";
    p.time_s.reset(), p.time_low_s.reset(), p.time_high_s.reset(), p.limiter = {};
  }
}

void Kernel::explain(Device const& device, Options const& options, Terms& terms) const {
  if (!row_->library.empty()) return explain_library(*row_, device, options, terms);
  auto common = options.common;
  common.terms = !has_queue(device) || !(complete_ || estimated_);
  if (!options.has_launch_cost) {
    common.launch_cost = {};
    if (common.terms) common.launch_cost.of_host = options.constants.launch_s;
  }
  panwar::explain(*row_, device, common, terms.common, terms.projection);
  static_cast<Quantities&>(terms) = {};
  Projector(*this, device, options, terms).run();
}

}  // namespace kernelcast::model::queue
