#include "model/queue.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "model/rates.hpp"

namespace kernelcast::model::queue {

namespace {

using device::Device;
using record::Limiter, record::Pipe, record::ResidualModel, record::RowStatus, record::Step;

using C = Constants;
// "chosen" is said of what bench-suites/validation's chosen part decided, and on which of its suites.
constexpr std::array table{
    Constant{"norm", &C::norm, "1", "chosen on hecbench, pmpp and qv100_cycles"},
    Constant{"wave_issue_cycles", &C::wave_issue_cycles, "clocks",
             "chosen on hecbench: from one instruction of a wavefront to its next, where it has no other to wait for"},
    Constant{"overlap", &C::overlap, "1",
             "chosen on gemm_ladders and hecbench: a group of W wavefronts is W^overlap customers"},
    Constant{"overlap_barriers", &C::overlap_barriers, "1", "chosen on gemm_ladders: the same of groups with barriers"},
    Constant{"load_cycles", &C::load_cycles, "clocks",
             "of 8.6 and others, and of their shared memory: micro-benchmarks of an A40"},
    Constant{"load_cycles_large", &C::load_cycles_large, "clocks",
             "of 7.0, 8.0, 9.0, where one line has all: 128 bytes a clock, te42kyfo/gpu-benches gpu-l1"},
    Constant{"shared_cycles_large", &C::shared_cycles_large, "clocks",
             "of shared memory of these, words: chosen on gemm_ladders and tunehub"},
    Constant{"load_cycles_turing", &C::load_cycles_turing, "clocks", "of 7.5: chosen on pmpp"},
    Constant{"store_cycles", &C::store_cycles, "clocks", "as load_cycles"},
    Constant{"tag_lines", &C::tag_lines, "lines/clock", "micro-benchmarks of an A40"},
    Constant{"constant_cycles", &C::constant_cycles, "clocks", "chosen on pmpp and tunehub"},
    Constant{"atomic_request_cycles", &C::atomic_request_cycles, "clocks", "as store_cycles"},
    Constant{"atomic_line_cycles", &C::atomic_line_cycles, "clocks", "chosen on pmpp: of one part of the cache"},
    Constant{"atomic_part_bytes", &C::atomic_part_bytes, "B",
             "chosen on hecbench and pmpp: neighbouring memory that one part of the cache updates"},
    Constant{"atomic_same_cycles", &C::atomic_same_cycles, "clocks", "one update of an address in a clock"},
    Constant{"shared_atomic_cycles", &C::shared_atomic_cycles, "clocks", "chosen on pmpp"},
    Constant{"texture_cycles", &C::texture_cycles, "clocks", "four texels a clock"},
    Constant{"l2_bytes_per_channel", &C::l2_bytes_per_channel, "B/clock",
             "te42kyfo/gpu-benches gpu-l2-cache, where the database has no rate"},
    Constant{"l2_port_bytes", &C::l2_port_bytes, "B/clock", "micro-benchmarks: 64 bytes a clock and compute unit"},
    Constant{"sectors_per_lookup", &C::sectors_per_lookup, "1", "assumed: 64 bytes a clock of each part of the cache"},
    Constant{"dram_part", &C::dram_part, "1",
             "te42kyfo/gpu-benches gpu-stream: of the stated bandwidth, where none was measured"},
    Constant{"line_part", &C::line_part, "1",
             "chosen on pmpp: of the resident groups, those that share a line in time"},
    Constant{"line_most", &C::line_most, "1", "chosen on pmpp: memory gives 64 bytes for 32"},
    Constant{"cache_part", &C::cache_part, "1", "assumed: of a capacity"},
    Constant{
        "dirty_part", &C::dirty_part, "1",
        "chosen on hecbench and pmpp: of the second-level cache, what has been written and stays there at the end"},
    Constant{"dirty_most", &C::dirty_most, "1", "chosen on hecbench: of what has been written, at most so much stays"},
    Constant{"arithmetic_cycles", &C::arithmetic_cycles, "clocks", "micro-benchmarks: 4 to 5"},
    Constant{"fp64_cycles", &C::fp64_cycles, "clocks", "micro-benchmarks of V100 and A100"},
    Constant{"fp64_slow_cycles", &C::fp64_slow_cycles, "clocks", "micro-benchmarks of Turing: 40 to 48"},
    Constant{"fp64_slow_part", &C::fp64_slow_part, "1",
             "chosen on hecbench: of the stated rate, where four schedulers share a narrow double-precision unit"},
    Constant{"special_cycles", &C::special_cycles, "clocks", "micro-benchmarks: 17 to 23"},
    Constant{"constant_latency_cycles", &C::constant_latency_cycles, "clocks", "micro-benchmarks: 26 to 30"},
    Constant{"shared_latency_cycles", &C::shared_latency_cycles, "clocks", "micro-benchmarks: 19 to 29"},
    Constant{"barrier_cycles", &C::barrier_cycles, "clocks", "micro-benchmarks: 16 to 24"},
    Constant{"hit_cycles", &C::hit_cycles, "clocks", "micro-benchmarks, where the database has no l1_latency_s"},
    Constant{"l2_latency_s", &C::l2_latency_s, "s", "RRZE-HPC/gpu-benches, A40, where the database has none"},
    Constant{"dram_latency_s", &C::dram_latency_s, "s", "RRZE-HPC/gpu-benches, A40, where the database has none"},
    Constant{"group_delay_cycles", &C::group_delay_cycles, "clocks", "chosen on pmpp: until a group has begun"},
    Constant{"wave_cycles", &C::wave_cycles, "clocks", "chosen on pmpp: to begin a wavefront"},
    Constant{"code_s", &C::code_s, "s", "chosen on pmpp: an instruction that is fetched for the first time"},
    Constant{"ramp_s", &C::ramp_s, "s", "chosen on pmpp: until a whole machine has work"},
    Constant{"launch_s", &C::launch_s, "s", "nvbench: 2.8 to 6.9 us on seven systems"},
    Constant{"graph_node_s", &C::graph_node_s, "s",
             "NVIDIA, Getting Started with CUDA Graphs: a graph of 20 kernels of 2.9 us takes 3.4 us for each on a "
             "V100, less launch_s; of each node after the first"},
};

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

// Of an NVIDIA device, 86 for 8.6; else 0.
int capability(Device const& device) {
  int number = 0;
  if (device.vendor == "NVIDIA" && device.target.starts_with("sm_"))
    std::from_chars(device.target.data() + 3, device.target.data() + device.target.size(), number);
  return number;
}

bool has_queue(Device const& device) {
  return !device.pipes.empty();
}

// Those of which bench-suites/validation has measured times.
bool is_validated(int capability) {
  return capability == 70 || capability == 75 || capability == 80 || capability == 86;
}

}  // namespace

std::span<Constant const> constants() {
  return table;
}

class Projector {
 public:
  Projector(Kernel const& kernel, Device const& device, int capability, Options const& options, Terms& terms)
      : k_(kernel),
        row_(*kernel.row_),
        device_(device),
        options_(options),
        c_(options.constants),
        terms_(terms),
        capability_(capability) {}

  void run();

 private:
  double slots(Pipe pipe) const { return row_.slots[pipe].value_or(0) / groups_total_; }
  double of_group(std::optional<double> const& value) const { return value.value_or(0) * k_.scale_; }
  double& station(Station s) { return terms_.stations[s]; }

  bool has_slow_fp64() const { return device_.throughput[record::InstructionClass::fp64].value_or(2) <= 4; }

  void set_up();
  void pipes();
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
  void caches();
  double lone_latency() const;
  double global_atomics() const;
  void one_launch(bool in_l2);
  Limiter limiter() const;  // of executing
  void finish();

  Kernel const& k_;
  record::Kernel const& row_;
  Device const& device_;
  Options const& options_;
  Constants const& c_;
  Terms& terms_;
  int capability_;
  double f_ = 1, slower_ = 1;  // clock; the one at which the database's figures of caches were measured over it
  double units_ = 1, active_ = 1, groups_ = 1, grid_groups_ = 1, groups_total_ = 1, resident_ = 1, waves_ = 1,
         launches_ = 1;
  double issued_ = 0;       // slots of a group
  double from_memory_ = 1;  // part of the misses that reach memory
};

void Projector::set_up() {
  auto const& common = terms_.common;
  f_ = common.clock_hz;
  slower_ = device_.clock_hz.value_or(f_) / f_;
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

void Projector::pipes() {
  using enum record::InstructionClass;
  for (Pipe const pipe : record::values_of<Pipe>) issued_ += slots(pipe);
  station(Station::issue) = (issued_ * warp / device_.throughput_issue.value_or(128) + c_.wave_cycles * waves_) / f_;
  for (auto const& rule : device_.pipes) {
    double const otherwise = rule.throughput == fp64 ? 2 : rule.throughput == special ? 16 : 64;
    double const rate = device_.throughput[rule.throughput].value_or(otherwise) / rule.results;
    double const part = rule.pipe == Pipe::fp64 && has_slow_fp64() ? c_.fp64_slow_part : 1;
    if (rate > 0) station(rule.station) += slots(rule.pipe) * warp / (rate * part) / f_;
  }
}

void Projector::load_store() {
  auto const& g = k_.group_;
  bool const turing = device_.target == "sm_75", large = capability_ % 10 == 0;
  double const load_cycles = turing ? c_.load_cycles_turing : c_.load_cycles;
  double const shared_cycles = large ? c_.shared_cycles_large : c_.load_cycles;
  auto const requests = [&](auto const& list, double min, double min_of_line) {
    double sum = 0;
    for (auto const& r : list)
      sum += r.count * std::max({r.lines > 1 ? min : min_of_line, r.degree, r.lines / c_.tag_lines});
    return sum * k_.scale_;
  };
  auto const loads = [&](auto const& list) {
    return requests(list, load_cycles, large ? c_.load_cycles_large : load_cycles);
  };
  double const shared_passes = (row_.shared_load_passes[1][1] + row_.shared_store_passes[1][1]) / groups_total_;
  // Loads of neighbouring words that the assembler joins are one request, and one pass.
  auto const count = [](auto const& list) {
    double sum = 0;
    for (auto const& r : list) sum += r.count;
    return sum;
  };
  // Constants are operands.
  double const others = (count(k_.loads_) + count(k_.stores_) + count(k_.locals_)) * k_.scale_ +
                        of_group(g.atomic_requests) + of_group(g.shared_atomic_requests) + of_group(g.texture_requests);
  double const asked = of_group(g.shared_requests);
  double const joined = asked > 0 ? std::clamp((slots(Pipe::memory) - others) / asked, 0.25, 1.0) : 1;
  double const shared = joined * std::max(shared_cycles * asked, shared_passes);
  double const shared_atomics = std::max({c_.shared_atomic_cycles * of_group(g.shared_atomic_requests),
                                          c_.shared_atomic_cycles * of_group(g.shared_atomic_passes),
                                          turing ? c_.shared_atomic_cycles * of_group(g.shared_atomic_serial) : 0});
  double const local = loads(k_.locals_);
  station(Station::shared) = (shared + shared_atomics) / f_;
  station(Station::lsu) =
      (loads(k_.loads_) + requests(k_.stores_, c_.store_cycles, c_.store_cycles) + shared + shared_atomics + local +
       c_.constant_cycles * of_group(g.constant_requests) + c_.texture_cycles * of_group(g.texture_requests) +
       c_.atomic_request_cycles * of_group(g.atomic_requests)) /
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

void Projector::caches() {
  auto const& g = k_.group_;
  double const own = k_.load_sectors_;
  double const unified = device_.l1_per_cu_bytes.value_or(0);
  double const shared_used = resident_ * static_cast<double>(row_.shared_bytes);
  double const l1 = std::max(unified - shared_used, 0.1 * unified) * c_.cache_part;
  double const l2 = device_.l2_bytes.value_or(0) * c_.cache_part;
  double const together = std::min(groups_, resident_ * units_);

  // Private memory lives in the first-level cache as far as that holds it, and is written back from there.
  double const local_bytes = g.local_lines.value_or(0) * 4 * sector_bytes;
  double const local_in_l1 = local_bytes * terms_.customers;
  double local_issued = 0;
  for (auto const& r : k_.locals_) local_issued += r.count * r.sectors;
  double const local_missed = local_in_l1 > l1 ? local_issued * (1 - l1 / local_in_l1) : 0;
  double const local_in_l2 = local_bytes * together;
  double const local_memory = local_in_l2 > l2 ? local_missed * (1 - l2 / local_in_l2) : 0;

  double const l1_left = std::max(0.1 * l1, l1 - local_in_l1);
  double const l1_growth = own > 0 ? (k_.load_parts_[0] + (own - k_.load_parts_[0]) * terms_.customers) / own : 1;
  double const lost = load_misses(l1_left, l1_growth);
  double const again = lost + k_.past_l1_;
  double stored = 0;
  for (auto const& r : k_.stores_) stored += r.count * r.sectors;
  double const textures = row_.texture_bytes / groups_total_ / sector_bytes;
  double const loads = (own + again) * k_.scale_ + textures;
  double const l2_sectors = (own + again) * looked_up(k_.loads_) * k_.scale_ + textures +
                            stored * looked_up(k_.stores_) * k_.scale_ + local_missed * k_.scale_ +
                            of_group(g.atomic_sectors);
  terms_.l2_bytes = l2_sectors * sector_bytes * groups_;
  double const l2_rate = l2_bytes_per_s(device_, f_, c_);
  // What all units share serves the groups of a last, smaller wave faster.
  double const sharing = groups_ / terms_.groups_of_unit;
  station(Station::l2) =
      std::max(l2_sectors * sector_bytes * sharing / l2_rate, l2_sectors * sector_bytes / (c_.l2_port_bytes * f_));

  bool const knows_unions = !k_.load_unions_.empty() && k_.load_unions_.size() == k_.store_unions_.size();
  double const loaded_together =
      knows_unions ? union_of(k_.load_unions_, together) : group_union(k_.load_parts_, together);
  double const l2_growth = own > 0 ? loaded_together / own : 1;
  double const again_memory =
      std::min(lost, load_misses(std::max(l2, l1), std::max(l2_growth, l1_growth))) * k_.scale_ * groups_;
  double const more_read = fetched_in_vain(k_.load_parts_, k_.load_lines_);
  double const more_written = fetched_in_vain(k_.store_parts_, k_.store_lines_);
  double const footprint = row_.global_footprint_bytes;
  double const group_held = knows_unions ? groups_held(l2) : 0;
  auto const distinct = [&](auto const& unions, auto const& parts) {
    return (knows_unions ? distinct_of_launch(unions, group_held) : distinct_of_launch(parts, l2)) * k_.scale_;
  };
  double const first_loads = more_read * distinct(k_.load_unions_, k_.load_parts_);
  double const first_stores = more_written * distinct(k_.store_unions_, k_.store_parts_);
  // What the cache holds when the launch begins: of what is loaded, the rest of what is stored alone, which is not
  // moved either while the program goes on writing it there, as that is not of what is loaded and stored.
  double const held = held_bytes(l2);
  double const held_loads = std::min(held, first_loads * sector_bytes);
  double const both =
      std::clamp((first_loads + first_stores) * sector_bytes - footprint, 0.0, first_stores * sector_bytes);
  double const held_stores =
      std::min(first_stores * sector_bytes, held - held_loads + (held > 0 ? both * held / footprint : 0));
  double const read =
      (first_loads + again_memory + (textures + local_memory * k_.scale_ / 2) * groups_) * sector_bytes - held_loads;
  double const written = (first_stores + local_memory * k_.scale_ / 2 * groups_) * sector_bytes - held_stores;
  // What fits is fetched once, whatever groups far from each other share.
  double const fetched = footprint <= l2 ? std::min(read, footprint) : read;
  double const dirty = std::min(c_.dirty_most * written, c_.dirty_part * device_.l2_bytes.value_or(0));
  double const most = (more_read * (own + again) + more_written * k_.store_sectors_ + textures + local_memory) *
                      k_.scale_ * groups_ * sector_bytes;
  terms_.dram_bytes = std::min(fetched + written, std::max(most, 0.0)) - dirty;
  station(Station::dram) = terms_.dram_bytes / groups_ * sharing / dram_bytes_per_s(device_, c_);
  from_memory_ = loads > 0 ? std::min(1.0, read / (loads * groups_ * sector_bytes)) : 1;
}

double Projector::lone_latency() const {
  auto const& path = k_.group_.path;
  auto const steps = [&](Step s) { return path[s].value_or(0) * k_.scale_; };
  double const cycles = steps(Step::arithmetic) * c_.arithmetic_cycles +
                        steps(Step::fp64) * (has_slow_fp64() ? c_.fp64_slow_cycles : c_.fp64_cycles) +
                        steps(Step::special) * c_.special_cycles + steps(Step::constant) * c_.constant_latency_cycles +
                        steps(Step::shared) * c_.shared_latency_cycles + steps(Step::barrier) * c_.barrier_cycles;
  double const hit_s = device_.l1_latency_s ? *device_.l1_latency_s * slower_ : c_.hit_cycles / f_;
  double const stated_l2_s = device_.l2_latency_s.value_or(c_.l2_latency_s), l2_s = stated_l2_s * slower_;
  double const memory_s = device_.global_latency_s.value_or(c_.dram_latency_s) + l2_s - stated_l2_s;
  return (cycles + c_.group_delay_cycles) / f_ + steps(Step::hit) * hit_s +
         steps(Step::miss) * (from_memory_ * memory_s + (1 - from_memory_) * l2_s);
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

// Without what starts cold; `in_l2`: the second-level cache holds all of its data.
void Projector::one_launch(bool in_l2) {
  double const memory = station(Station::dram), from_memory = from_memory_;
  if (in_l2) station(Station::dram) = 0, from_memory_ = 0;
  // Shared memory is part of the load/store unit: it has a station of its own to be named. An instruction that has its
  // pipe has the scheduler: that counts as far as it is busier than any pipe.
  double sum = 0, most = 0, norm = 0, busiest_pipe = 0;
  for (auto const one : record::values_of<Station>)
    if (one != Station::shared) sum += station(one), most = std::max(most, station(one));
  for (auto const one : {Station::fp32, Station::imad, Station::integer, Station::fp64, Station::special, Station::lsu})
    busiest_pipe = std::max(busiest_pipe, station(one));
  for (auto const one : record::values_of<Station>) {
    double const busy = one == Station::issue ? std::max(0.0, station(one) - busiest_pipe) : station(one);
    if (one != Station::shared && busy > 0) norm += std::pow(busy / most, c_.norm);
  }
  terms_.service = std::max(most, most * std::pow(norm, 1 / c_.norm));
  double const issued = c_.wave_issue_cycles * issued_ / waves_ / f_;
  terms_.latency = std::max(lone_latency() + std::max(0.0, sum - terms_.service) / waves_, issued - terms_.service);
  // Wavefronts of a group overlap each other, less where barriers hold them together: a group is so many customers.
  bool const holds = k_.group_.path[Step::barrier].value_or(0) > 0;
  double const parts = std::clamp(std::round(std::pow(waves_, holds ? c_.overlap_barriers : c_.overlap)), 1.0, waves_);
  auto const [alone, x] = throughput(terms_.latency, terms_.service / parts, parts, terms_.customers * parts);
  terms_.queue = x > 0 ? terms_.groups_of_unit * parts / x : 0;
  // The launch lasts as long as its longest group.
  terms_.longest = alone > 0 ? parts / alone / k_.scale_ : 0;
  terms_.atomics = global_atomics();
  station(Station::dram) = memory;
  from_memory_ = from_memory;
}

Limiter Projector::limiter() const {
  double const body = std::max({terms_.queue, terms_.longest, terms_.atomics});
  if (terms_.atomics == body) return Limiter::atomics;
  if (terms_.longest == body || terms_.latency > terms_.customers * terms_.service) return Limiter::latency;
  static constexpr record::PerValue<Station, Limiter> names{
      {Limiter::issue, Limiter::fp32, Limiter::int_, Limiter::int_, Limiter::fp64, Limiter::special, Limiter::lsu,
       Limiter::shared, Limiter::l2, Limiter::dram}};
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
  bool const stays = row_.global_footprint_bytes <= device_.l2_bytes.value_or(0);
  auto const body = [&] { return std::max({terms_.queue, terms_.longest, terms_.atomics}); };
  double later = 0;  // each launch after the first, which find what it has left
  if (launches_ > 1 && stays && !warm && !program) one_launch(true), later = body();
  one_launch(stays && warm);  // the first: its terms remain
  if (!stays || warm || program) later = body();
  // While a first group fetches its code, memory serves what has been asked for.
  double const code = warm ? 0 : c_.code_s * row_.code_slots.value_or(0);
  double const ramp = warm || groups_ < units_ ? 0 : c_.ramp_s;
  double const first = std::max(body(), terms_.longest + code) + ramp;
  terms_.start = first - body();
  double const executing = first + (launches_ - 1) * later;
  auto const cost =
      options_.has_launch_cost ? options_.common.launch_cost.on(device_) : std::optional<double>(c_.launch_s);
  terms_.launch = cost.value_or(0);
  auto const& s = terms_.stations;
  double const of_unit = launches_ * terms_.groups_of_unit;
  auto const at = [&](Station one) { return s[one]; };
  p.t_compute_s = of_unit * std::max({at(Station::issue), at(Station::fp32), at(Station::imad), at(Station::integer),
                                      at(Station::fp64), at(Station::special)});
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
  set_up();
  pipes();
  load_store();
  caches();
  finish();
  if (!is_validated(capability_)) {
    p.status = RowStatus::unvalidated;
    if (!p.reason.empty()) p.reason += "; ";
    p.reason.append("no measurement of ").append(device_.target).append(" has tested this model");
  }
  if (!std::isfinite(*p.time_s) || *p.time_s <= 0) {
    p.status = RowStatus::unknown;
    p.reason = "the counts are too large";
    p.time_s.reset(), p.time_low_s.reset(), p.time_high_s.reset(), p.limiter = {};
  }
}

void Kernel::explain(Device const& device, Options const& options, Terms& terms) const {
  int const number = capability(device);
  auto common = options.common;
  common.terms = !has_queue(device) || !(complete_ || estimated_);
  if (!options.has_launch_cost) {
    common.launch_cost = {};
    if (common.terms) common.launch_cost.seconds = options.constants.launch_s;
  }
  panwar::explain(*row_, device, common, terms.common, terms.projection);
  static_cast<Quantities&>(terms) = {};
  Projector(*this, device, number, options, terms).run();
}

}  // namespace kernelcast::model::queue
