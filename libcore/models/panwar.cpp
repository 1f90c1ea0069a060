#include "models/panwar.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <utility>

#include <fmt/compile.h>
#include <fmt/format.h>

namespace kernelcast::model::panwar {

namespace {

using device::Device;
using record::Kernel;

using Class = record::InstructionClass;
using enum Class;
using record::AccessRule, record::Limiter, record::RowStatus;

// A projection that cannot be made: status and reason.
struct Refusal {
  RowStatus status;
  std::string reason;
};

// One term: the time, and the ends of its interval.
struct Span {
  double time_s = 0, low_s = 0, high_s = 0;
};

class Projector {
 public:
  Projector(Kernel const& kernel, Device const& device, Options const& options, Quantities& terms,
            record::Projection& projection)
      : kernel_(kernel), device_(device), options_(options), terms_(terms), projection_(projection) {}

  void run();

 private:
  bool set_up();  // false: the device refuses the launch
  void use_measured_clock();
  void occupy();
  bool fit();  // likewise
  bool refuse(std::string_view reason);
  void project();
  double throughput(Class c);
  double fallback(Class c, Class from, unsigned divisor = 1);
  double issue_throughput() const;
  double cycles(Class c);
  Span compute();
  double shared_issues(double passes) const;
  double vliw_cycles(double ops_per_bundle);
  double compute_cycles(double arithmetic);
  void count_global(double& extra_read, double& extra_write);
  void global_bandwidth();
  double curve_time(double read_bytes, double write_bytes) const;
  double item_waits() const;
  double item_instructions_s() const;
  Span global_bytes();
  Span global();
  std::size_t shared_banks_index() const;
  std::size_t pass_width_index() const;
  double shared_bandwidth(device::Curve const& curve);
  Span shared();
  double launches_s();

  double need(std::optional<double> const& value, char const* column) const {
    if (!value) throw Refusal{RowStatus::unknown, fmt::format("the device database lacks {}", column)};
    return *value;
  }
  double need(std::optional<std::uint64_t> const& value, char const* column) const {
    if (!value) throw Refusal{RowStatus::unknown, fmt::format("the device database lacks {}", column)};
    return static_cast<double>(*value);
  }
  void note(std::string_view text);
  template <class Format, class... Args>
    requires(sizeof...(Args) > 0)
  void note(Format const& format, Args const&... args) {  // FMT_COMPILE("…")
    if (options_.terms) note(std::string_view(fmt::format(format, args...)));
  }

  Kernel const& kernel_;
  Device const& device_;
  Options const& options_;
  Quantities& terms_;
  record::Projection& projection_;
  device::Placement placement_ = {};
  std::size_t width_index_ = 1;  // of record::width_lanes
  double width_ = 32, units_ = 1, launches_ = 1, items_ = 1;
  double imbalance_ = 1;  // work of the busiest unit over the mean
};

// Each once, joined by "; ".
void Projector::note(std::string_view text) {
  if (!options_.terms) return;
  auto& reason = projection_.reason;
  for (std::string_view rest = reason; !rest.empty();) {
    auto const end = std::min(rest.find("; "), rest.size());
    if (rest.substr(0, end) == text) return;
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  if (reason.empty())
    reason.reserve(192);  // most have several notes
  else
    reason += "; ";
  reason += text;
}

std::size_t width_index(double lanes) {
  for (std::size_t i = 0; i < record::width_lanes.size(); ++i)
    if (record::width_lanes[i] == lanes) return i;
  throw Refusal{RowStatus::unknown, fmt::format("kernels are not counted for wavefronts of {} work-items", lanes)};
}

// --- the launch on the device -----------------------------------------------------------------------------------

bool Projector::refuse(std::string_view reason) {
  projection_.status = RowStatus::infeasible;
  projection_.reason = reason;
  return false;
}

bool Projector::set_up() {
  if (device_.kind != "gpu") throw Refusal{RowStatus::unknown, "the model is for GPUs, this is a CPU"};
  items_ = static_cast<double>(kernel_.block_x) * static_cast<double>(kernel_.block_y) *
           static_cast<double>(kernel_.block_z);
  if (auto const why = device::refusal(kernel_, device_, placement_); !why.empty()) {
    try {
      if (items_ < 0x1p53) occupy();
    } catch (Error const&) {
      // The reason stands, whatever the rule of the device lacks.
    }
    return refuse(why);
  }
  auto const clock = options_.clock_hz                ? options_.clock_hz
                     : options_.clock == Clock::base  ? device_.clock_base_hz
                     : options_.clock == Clock::boost ? device_.clock_boost_hz
                                                      : device_.clock_hz;
  if (!clock) note("clock_hz: the requested clock is unknown");
  terms_.clock_hz = clock ? *clock : need(device_.clock_hz, "clock_hz");
  units_ = need(device_.compute_units, "compute_units");
  if (options_.clock == Clock::usual && !options_.clock_hz) use_measured_clock();
  width_ = need(device_.rule.wave_width, "wave_width");
  width_index_ = width_index(width_);
  launches_ = std::max<double>(1, static_cast<double>(kernel_.launches));
  terms_.groups_per_launch = std::max(1.0, static_cast<double>(kernel_.groups_total) / launches_);
  terms_.units_used = std::min(units_, std::ceil(terms_.groups_per_launch));
  imbalance_ = std::ceil(terms_.groups_per_launch / units_) * units_ / terms_.groups_per_launch;
  return true;
}

// A device that boosts by itself holds a clock above the stated one when it was measured above its peak at that clock.
void Projector::use_measured_clock() {
  bool const boosts = device_.clock_boost_hz.value_or(0) > device_.clock_base_hz.value_or(0);
  if (!boosts || !device_.measured_fp32_flop_per_s || !device_.throughput[fp32]) return;
  double const held_hz = *device_.measured_fp32_flop_per_s / (2 * units_ * *device_.throughput[fp32]);
  if (held_hz <= terms_.clock_hz) return;
  note(FMT_COMPILE("clock of {:.0f} MHz as the measured peak tells"), held_hz / 1e6);
  terms_.clock_hz = held_hz;
}

void Projector::occupy() {
  auto& [registers, occupancy] = placement_;
  if (occupancy.waves_per_group == 0) {  // not found: another refusal came first, or the rule lacks a limit
    registers = device::registers_for(kernel_, device_);
    occupancy = device::occupancy(device_, registers, kernel_.shared_bytes, static_cast<std::uint64_t>(items_));
  }
  terms_.occupancy = std::move(occupancy);
  for (auto const& text : registers.notes) note(text);
  terms_.registers = registers.count;
  terms_.registers_source = registers.source;
}

bool Projector::fit() {
  occupy();
  if (terms_.occupancy.groups_per_cu == 0) return refuse(terms_.occupancy.misfit);
  terms_.rounds = std::ceil(terms_.groups_per_launch / (units_ * static_cast<double>(terms_.occupancy.groups_per_cu)));
  return true;
}

// --- compute ------------------------------------------------------------------------------------------------------

double Projector::issue_throughput() const {
  if (device_.throughput_issue) return *device_.throughput_issue;
  if (device_.throughput[fp32]) return *device_.throughput[fp32];
  return need(device_.lanes_per_cu, "throughput_issue");
}

double Projector::fallback(Class c, Class from, unsigned divisor) {
  if (options_.terms) {
    fmt::memory_buffer text;
    fmt::format_to(std::back_inserter(text), FMT_COMPILE("throughput_{} as {}"), name(c), name(from));
    if (divisor != 1) fmt::format_to(std::back_inserter(text), FMT_COMPILE(" / {}"), divisor);
    note(std::string_view(text.data(), text.size()));
  }
  return throughput(from) / divisor;
}

// Lanes of class c per clock and compute unit.
double Projector::throughput(Class c) {
  if (c == sync && device_.throughput_sync) return *device_.throughput_sync;
  if (!has_unit(c)) return issue_throughput();
  if (auto const value = device_.throughput[c]) {
    if (*value == 0) throw Refusal{RowStatus::infeasible, fmt::format("the device has no {} arithmetic", name(c))};
    // A packed half-precision instruction gives two results.
    return c == fp16 ? *value / 2 : *value;
  }
  switch (c) {
    case fp32:
      note("throughput_fp32 as lanes_per_cu");
      return need(device_.lanes_per_cu, "throughput_fp32");
    case fp64:
      note("throughput_fp64 from the stated peaks");
      return throughput(fp32) * need(device_.peak_fp64_flop_per_s, "throughput_fp64") /
             need(device_.peak_fp32_flop_per_s, "peak_fp32_flop_per_s");
    case int_mul:
      return fallback(c, int_add, 4);
    case special:
      return fallback(c, fp32, 4);
    case convert:
      return fallback(c, special);
    case shift:
      return fallback(c, logic);
    case logic:
      return fallback(c, int_add);
    default:
      return fallback(c, fp32);
  }
}

// Clocks of one compute unit that had all the issues of class c to itself.
double Projector::cycles(Class c) {
  double const issues = kernel_.issues[c][width_index_];
  return issues == 0 ? 0 : issues * width_ / throughput(c);
}

// Wavefront instructions on shared memory if none conflicts, of all memory instructions.
double Projector::shared_issues(double passes) const {
  double const banks = device_.shared_banks ? static_cast<double>(*device_.shared_banks) : 32;
  return std::min(kernel_.issues[memory][width_index_], passes * banks / width_);
}

// Bundles hold arithmetic, register moves and shared-memory operations, at most one of the last.
double Projector::vliw_cycles(double ops_per_bundle) {
  double const bundle_lanes = throughput(fp32) / need(device_.vliw_slots, "vliw_slots");
  std::size_t const banks = shared_banks_index();
  double const shared = shared_issues(kernel_.shared_load_passes[pass_width_index()][banks] +
                                      kernel_.shared_store_passes[pass_width_index()][banks]);
  double packed = shared + kernel_.issues[other][width_index_], single = 0;
  for (Class const c : record::values_of<Class>) {
    if (!has_unit(c)) continue;
    double const issues = kernel_.issues[c][width_index_];
    if (issues == 0) continue;
    packed += issues;
    if (throughput(c) <= bundle_lanes) single += cycles(c);
  }
  return std::max({packed * width_ / (bundle_lanes * ops_per_bundle), single, shared * width_ / bundle_lanes});
}

// Clocks of a compute unit. AMD's start instructions of several kinds at once, from different wavefronts; NVIDIA's
// schedulers start one or the other.
double Projector::compute_cycles(double arithmetic) {
  double const control_cycles = cycles(control) + cycles(sync);
  bool const vliw = device_.vliw_slots.value_or(1) > 1;
  if (device_.vendor == "AMD")
    return std::max({vliw ? arithmetic : arithmetic + cycles(other), cycles(memory), control_cycles});
  double memory_cycles = cycles(memory);
  if (device_.global_access_rule == AccessRule::cc1x_segments) {
    // An operand straight from shared memory: 6 clocks instead of 4.
    double const loads = shared_issues(kernel_.shared_load_passes[width_index_][shared_banks_index()]);
    memory_cycles -= 0.5 * loads * width_ / issue_throughput();
  }
  return arithmetic + memory_cycles + control_cycles + cycles(other);
}

Span Projector::compute() {
  double const scale = imbalance_ / (units_ * terms_.clock_hz);
  auto const seconds = [&](double arithmetic) { return compute_cycles(arithmetic) * scale; };
  if (auto const slots = device_.vliw_slots; slots && *slots > 1) {
    auto const most = static_cast<double>(*slots);
    auto const known = kernel_.vliw_ops_per_bundle;
    if (!known) note("vliw_ops_per_bundle not known, half of the bundle taken");
    double const likely = seconds(vliw_cycles(known ? std::clamp(*known, 1.0, most) : (1 + most) / 2));
    return {likely, known ? likely : seconds(vliw_cycles(most)), known ? likely : seconds(vliw_cycles(1))};
  }
  double arithmetic = 0;
  for (Class const c : record::values_of<Class>)
    if (has_unit(c)) arithmetic += cycles(c);
  double const likely = seconds(arithmetic);
  return {likely, likely, likely};
}

// --- global memory ------------------------------------------------------------------------------------------------

// Bytes moved after coalescing; `extra` is what moves as well if the cache does not hold private memory.
void Projector::count_global(double& extra_read, double& extra_write) {
  if (!device_.global_access_rule) throw Refusal{RowStatus::unknown, "the device database lacks global_access_rule"};
  auto const& k = kernel_;
  double& read = terms_.global_read_bytes;
  double& write = terms_.global_write_bytes;
  double smallest = 32;
  switch (*device_.global_access_rule) {
    case AccessRule::cc1x_segments:
      for (std::size_t s = 0; s < record::segment_bytes.size(); ++s) {
        read += k.global_load_cc13[s] * record::segment_bytes[s];
        write += k.global_store_cc13[s] * record::segment_bytes[s];
      }
      break;
    case AccessRule::lines128:
      read = k.global_load_tx[1][2] * 128;
      write = k.global_store_tx[1][0] * 32;
      break;
    case AccessRule::sectors32:
      read = k.global_load_tx[1][0] * 32;
      write = k.global_store_tx[1][0] * 32;
      break;
    case AccessRule::amd64:
      smallest = 64;
      read = k.global_load_tx[0][1] * 64;
      write = k.global_store_tx[0][1] * 64;
      break;
  }
  if (k.atomics_global > 0) note("atomics as a load and a store each");
  if (k.texture_bytes > 0) note("textures as loads of each byte once");
  read += k.atomics_global * smallest + k.texture_bytes;
  write += k.atomics_global * smallest;
  bool const cached = !device_.l1_per_cu_bytes || *device_.l1_per_cu_bytes > 0;
  (cached ? extra_read : read) += k.local_load_bytes;
  (cached ? extra_write : write) += k.local_store_bytes;
}

// Bandwidths at full occupancy, and where they come from. A single measured point is one at full occupancy; a curve of
// one access per work-item may end below what the device gives to more.
void Projector::global_bandwidth() {
  double bandwidth = 0;
  if (device_.measured_bandwidth_bytes_per_s) {
    bandwidth = *device_.measured_bandwidth_bytes_per_s;
    projection_.bandwidth_source = "measured";
  } else if (device_.global_read.empty()) {
    bandwidth = need(device_.peak_bandwidth_bytes_per_s, "peak_bandwidth_bytes_per_s") * measured_fraction;
    static auto const of_peak = fmt::format("peak x {}", measured_fraction);
    projection_.bandwidth_source = of_peak;
  }
  auto const full = [&](device::Curve const& curve) {
    if (curve.empty()) return bandwidth;
    return curve.occupancy.size() > 1 ? std::max(curve.at(1), bandwidth) : curve.at(1);
  };
  terms_.global_read_bytes_per_s = full(device_.global_read);
  terms_.global_write_bytes_per_s =
      device_.global_write.empty() && bandwidth == 0 ? terms_.global_read_bytes_per_s : full(device_.global_write);
  if (!device_.global_read.empty()) projection_.bandwidth_source = "measured";
}

// Bytes in the place of seconds: with the refusals of global(), where only these count.
Span Projector::global_bytes() {
  double extra_read = 0, extra_write = 0;
  count_global(extra_read, extra_write);
  if (!device_.measured_bandwidth_bytes_per_s && device_.global_read.empty())
    need(device_.peak_bandwidth_bytes_per_s, "peak_bandwidth_bytes_per_s");
  return {.time_s = terms_.global_read_bytes + terms_.global_write_bytes};
}

// Seconds of one launch's bytes: full rounds at their occupancy over all units, the last one at its own.
double Projector::curve_time(double read_bytes, double write_bytes) const {
  double const groups = terms_.groups_per_launch;
  double const resident = units_ * static_cast<double>(terms_.occupancy.groups_per_cu);
  double const tail = std::fmod(groups, resident);
  auto const at = [&](double running) {
    double const occupancy = terms_.occupancy.occupancy * running / resident;
    double const read = device_.global_read.at(occupancy);
    double const write = device_.global_write.empty() ? read : device_.global_write.at(occupancy);
    return running / groups * (read_bytes / read + write_bytes / write);
  };
  return std::floor(groups / resident) * at(resident) + (tail > 0 ? at(tail) : 0);
}

// How often a work-item waits for a load from global memory.
double Projector::item_waits() const {
  double const items = terms_.groups_per_launch * launches_ * items_;
  if (kernel_.global_load_rounds) return *kernel_.global_load_rounds / items;
  return (kernel_.global_load_bytes + kernel_.texture_bytes) / (items * item_bytes_in_flight);
}

// Seconds that a wavefront's own instructions take when nothing else runs: each starts when the one before has started,
// and a scheduler's lanes take a wavefront in several clocks.
double Projector::item_instructions_s() const {
  double issues = 0;
  for (auto const& of_class : kernel_.issues) issues += of_class[width_index_];
  if (device_.vliw_slots.value_or(1) > 1) issues /= kernel_.vliw_ops_per_bundle.value_or(1);
  double const waves = terms_.groups_per_launch * launches_ * static_cast<double>(terms_.occupancy.waves_per_group);
  double const clocks = width_ * static_cast<double>(device_.schedulers_per_cu.value_or(1)) / issue_throughput();
  return issues / waves * clocks / terms_.clock_hz;
}

Span Projector::global() {
  double extra_read = 0, extra_write = 0;
  count_global(extra_read, extra_write);
  global_bandwidth();
  auto const at_full = [this](double read, double write) {
    return read / terms_.global_read_bytes_per_s + write / terms_.global_write_bytes_per_s;
  };
  double const read = terms_.global_read_bytes, write = terms_.global_write_bytes;
  double const bound = at_full(read, write);
  // Sectors that were fetched before come from a cache: neither its latency nor the occupancy that memory needs counts.
  bool const cached = !device_.l2_bytes || *device_.l2_bytes > 0;
  double const all_distinct = kernel_.global_footprint_bytes * launches_;
  double const fetched = cached && all_distinct > 0 ? std::min(1.0, all_distinct / std::max(read + write, 1.0)) : 1;
  Span t;
  if (device_.global_read.occupancy.size() > 1) {
    t.time_s = std::max(bound, fetched * launches_ * curve_time(read / launches_, write / launches_));
    t.high_s = std::max(at_full(read + extra_read, write + extra_write),
                        launches_ * curve_time((read + extra_read) / launches_, (write + extra_write) / launches_));
    projection_.bandwidth_source = "curve";
    if (device_.global_read.word_bytes != 4)
      note(FMT_COMPILE("bandwidth over occupancy of words of {} bytes"), device_.global_read.word_bytes);
  } else {
    double const waits = item_waits();
    double const latency_s = device_.global_latency_s.value_or(default_latency_s);
    double const item_s = waits > 0 ? std::max(1.0, fetched * waits) * latency_s + item_instructions_s() : 0;
    double const waiting = launches_ * terms_.rounds * item_s;
    if (waiting > bound && !device_.global_latency_s)
      note(FMT_COMPILE("global_latency_s taken as {:g}"), default_latency_s);
    t.time_s = std::max(bound, waiting);
    t.high_s = std::max(at_full(read + extra_read, write + extra_write), waiting);
  }
  terms_.saturation = t.time_s > 0 ? std::min(1.0, bound / t.time_s) : 1;
  if (options_.terms && projection_.bandwidth_source != "curve") {
    std::array<char, 16> text{'1'};
    auto* end = text.data() + 1;
    if (terms_.saturation != 1)
      end = std::to_chars(text.data(), text.data() + text.size(), terms_.saturation, std::chars_format::general, 3).ptr;
    projection_.bandwidth_source.append(" x saturation ").append(text.data(), end);
  }
  t.low_s = t.time_s;
  double const resident =
      std::min(terms_.groups_per_launch, units_ * static_cast<double>(terms_.occupancy.groups_per_cu));
  double const distinct = kernel_.global_footprint_bytes;
  double const touched = distinct * resident / terms_.groups_per_launch;
  if (device_.l2_bytes && touched > 0 && touched <= *device_.l2_bytes) {
    // What fits as a whole stays there from launch to launch.
    double const once = std::min(read + write, distinct <= *device_.l2_bytes ? distinct : distinct * launches_);
    double const rest = read + write - once;
    double const cached_s = (read + write > 0 ? bound * once / (read + write) : 0) +
                            (device_.l2_bandwidth_bytes_per_s ? rest / *device_.l2_bandwidth_bytes_per_s : 0);
    t.low_s = std::min(t.time_s, cached_s);
  }
  return t;
}

// --- shared memory ------------------------------------------------------------------------------------------------

// Bytes per second of conflict-free 4-byte accesses, all units together.
double Projector::shared_bandwidth(device::Curve const& curve) {
  if (!curve.empty()) {
    double const share = curve.occupancy.size() > 1 ? terms_.occupancy.occupancy : 1;
    return curve.at(share) * terms_.clock_hz / need(device_.clock_hz, "clock_hz");
  }
  if (!device_.shared_fraction) note("shared_fraction not known, the peak taken");
  return units_ * need(device_.shared_banks, "shared_banks") * 4 *
         need(device_.shared_passes_per_cu_cycle, "shared_passes_per_cu_cycle") * terms_.clock_hz *
         device_.shared_fraction.value_or(1);
}

// Of record::bank_names.
std::size_t Projector::shared_banks_index() const {
  return device_.shared_banks == 16 ? 0 : device_.shared_bank_bytes.value_or(4) == 8 ? 2 : 1;
}

// Conflicts are those of half a wavefront of 64.
std::size_t Projector::pass_width_index() const {
  return width_ == 64 ? 1 : width_index_;
}

Span Projector::shared() {
  auto const& k = kernel_;
  double const banks = device_.shared_banks ? static_cast<double>(*device_.shared_banks) : 32;
  std::size_t const kind = shared_banks_index(), width = pass_width_index();
  double load = k.shared_load_passes[width][kind], store = k.shared_store_passes[width][kind];
  if (k.atomics_shared > 0) {
    note("atomics as a load and a store each");
    load += k.atomics_shared / banks;
    store += k.atomics_shared / banks;
  }
  terms_.shared_passes = load + store;
  if (load + store == 0) return {};
  if (banks != 16 && banks != 32)
    throw Refusal{RowStatus::unknown, fmt::format("kernels are not counted for {} banks of shared memory", banks)};
  terms_.shared_read_bytes_per_s = shared_bandwidth(device_.shared_read);
  terms_.shared_write_bytes_per_s = device_.shared_write.empty() && !device_.shared_read.empty()
                                        ? terms_.shared_read_bytes_per_s
                                        : shared_bandwidth(device_.shared_write);
  double const time =
      imbalance_ * banks * 4 * (load / terms_.shared_read_bytes_per_s + store / terms_.shared_write_bytes_per_s);
  return {time, time, time};
}

// --- all together -------------------------------------------------------------------------------------------------

// A projected time is above 0 and finite, or it is none.
void refuse_no_time(std::initializer_list<Span> terms) {
  double longest_s = 0;
  for (auto const& term : terms) {
    if (!std::isfinite(term.time_s)) throw Refusal{RowStatus::unknown, "the counts are too large"};
    longest_s = std::max(longest_s, term.time_s);
  }
  if (longest_s == 0) throw Refusal{RowStatus::unknown, "nothing is counted that takes time"};
}

// What the launches themselves cost, where that is asked for.
double Projector::launches_s() {
  auto& out = projection_.t_launch_s;
  if (options_.launch_cost.unknown_on(device_)) note(device::launch_cost_unknown);
  if (auto const each = options_.launch_cost.on(device_)) out = launches_ * *each;
  return out.value_or(0);
}

void Projector::project() {
  auto& p = projection_;
  if (!kernel_.library.empty())
    throw Refusal{RowStatus::unknown, "a call of a library: nothing of it is counted, and the queue alone has tables"};
  if (!set_up() || !fit()) return;
  p.occupancy = terms_.occupancy.occupancy;
  Span const c = compute(), g = options_.terms ? global() : global_bytes(), s = shared();
  refuse_no_time({c, g, s});
  if (!options_.terms) return;
  p.t_compute_s = c.time_s;
  p.t_global_s = g.time_s;
  p.t_shared_s = s.time_s;
  p.time_s = std::max({c.time_s, g.time_s, s.time_s});
  auto limits = *p.time_s == c.time_s ? Limiter::compute : *p.time_s == g.time_s ? Limiter::global : Limiter::shared;
  double const delay = launches_s();
  if (delay > *p.time_s) limits = Limiter::launch;
  p.limiter = limits;
  bool const sampled = kernel_.groups_emulated < kernel_.groups_total;
  double const error_pct =
      kernel_.sampling_error_pct ? 2 * *kernel_.sampling_error_pct : kernel_.spread_pct.value_or(0);
  double const spread = 1 + (sampled ? error_pct / 100 : 0);
  *p.time_s += delay;
  p.time_low_s = std::max({c.low_s, g.low_s, s.low_s}) / spread + delay;
  p.time_high_s =
      std::min(std::max({c.high_s, g.high_s, s.high_s}) * spread + delay, std::numeric_limits<double>::max());
  auto const model = p.t_launch_s ? record::ResidualModel::panwar_launches : record::ResidualModel::panwar;
  if (device_.residuals.at(model, limits, *p.time_s).high > 0) device_.residuals.bound(p, model, limits);
}

void Projector::run() {
  auto& p = projection_;
  p.clear();
  terms_ = {};
  p.kernel = kernel_.kernel;
  p.case_name = kernel_.case_name;
  p.device = device_.device;
  p.model = model_name;
  try {
    project();
  } catch (Refusal const& refusal) {
    p.status = refusal.status;
    p.reason = refusal.reason;
  } catch (Error const& error) {  // a rule of the database that lacks a limit
    p.status = RowStatus::unknown;
    p.reason = error.what();
  }
  if (p.status != RowStatus::ok) p.bandwidth_source.clear(), p.occupancy.reset();
}

}  // namespace

Terms explain(Kernel const& kernel, Device const& device, Options const& options) {
  Terms terms;
  explain(kernel, device, options, terms, terms.projection);
  return terms;
}

void explain(Kernel const& kernel, Device const& device, Options const& options, Quantities& terms,
             record::Projection& projection) {
  Projector(kernel, device, options, terms, projection).run();
}

}  // namespace kernelcast::model::panwar
