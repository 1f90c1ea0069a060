#include "models/queue.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "models/libraries.hpp"
#include "models/projector.hpp"
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
constexpr double cubic = 3;                     // a cube needs no logarithm

bool has_queue(Device const& device) {
  return !device.pipes.empty();
}

}  // namespace

Constants constants_on(Device const& device, Constants of_all) {
  for (auto const& [constant, value] : device.constants) of_all.*constant = value;
  return of_all;
}

double launch_s(Options const& options, Constants const& constants, Device const& device) {
  device::LaunchCost const of_host{.of_host = constants.launch_s, .of = {}};
  std::optional<double> queued;
  if (options.launches == Launches::back_to_back) queued = constants.queued_launch_s;
  return (options.has_launch_cost ? options.common.launch_cost : of_host).on(device, queued).value_or(0);
}

Projector::Projector(Kernel const& kernel, Device const& device, Options const& options, Terms& terms)
    : k_(kernel),
      row_(*kernel.row_),
      device_(device),
      options_(options),
      c_(constants_on(device, options.constants)),
      terms_(terms) {}

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
  double const pass_cycles = 1 / device_.shared_passes_per_cu_cycle.value_or(1);
  double shared = 0;
  if (c_.shared_joined > 0 && !k_.shared_.empty())
    for (auto const& [clocks, n] : k_.shared_)
      shared += n * k_.scale_ * std::max(c_.shared_cycles, pass_cycles * clocks);
  else
    shared = std::max(c_.shared_cycles * of_group(g.shared_requests), pass_cycles * shared_passes());
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

// To the power of the norm: a group of many phases takes some hundreds of them.
double Projector::raised(double part) const {
  return c_.norm == cubic ? part * part * part : std::pow(part, c_.norm);
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
    if ((one != Station::shared || apart) && busy > 0) norm += raised(busy / most);
  }
  out.service = std::max(most, most * (c_.norm == cubic ? std::cbrt(norm) : std::pow(norm, 1 / c_.norm)));
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
  terms_.launch = launch_s(options_, c_, device_);
  auto const& s = terms_.stations;
  double const of_unit = launches_ * terms_.groups_of_unit;
  auto const at = [&](Station one) { return s[one]; };
  p.t_compute_s = of_unit * std::max({at(Station::issue), at(Station::fp32), at(Station::imad), at(Station::integer),
                                      at(Station::fp64), at(Station::special), at(Station::tensor)});
  p.t_global_s = of_unit * std::max(at(Station::l2), at(Station::dram));
  p.t_shared_s = of_unit * at(Station::shared);
  auto const besides = [&](double one) {
    if (options_.launches == Launches::alone) return terms_.launch;
    return std::max(std::min(c_.queued_gap_s, terms_.launch), terms_.launch - one);
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
