#include "models/ake/machine.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "base/diag/text.hpp"
#include "models/rates.hpp"

namespace kernelcast::model::ake {

namespace {

using record::LatencyFallback;
using record::LatencyGap;

// [panwar]: part of the stated peak that coalesced accesses reach where it was not measured; as in perfcast.
constexpr double measured_fraction = 0.85;
constexpr std::int64_t max_ticks = 1'000'000;

// An exact number of cycles.
struct Ratio {
  std::int64_t numerator = 0, denominator = 1;

  Ratio reduced() const {
    std::int64_t const d = std::max<std::int64_t>(1, std::gcd(numerator, denominator));
    return {numerator / d, denominator / d};
  }
  Ratio times(std::int64_t n, std::int64_t d) const { return Ratio{numerator * n, denominator * d}.reduced(); }
  double value() const { return static_cast<double>(numerator) / static_cast<double>(denominator); }
};

// To a thousandth of a cycle, as the sources state.
Ratio ratio_of(double cycles) {
  return Ratio{std::llround(cycles * 1000), 1000}.reduced();
}

struct Figure {
  Ratio cycles;
  bool per_scheduler = false;
};

// "sm_50/52" -> 50, 52; nothing for other targets.
std::vector<int> capabilities(std::string_view target) {
  std::vector<int> out;
  if (!target.starts_with("sm_")) return out;
  char const* at = target.data() + 3;
  char const* const end = target.data() + target.size();
  while (at < end) {
    int value = 0;
    auto const [stop, failure] = std::from_chars(at, end, value);
    if (failure != std::errc{}) break;
    out.push_back(value);
    at = stop + 1;
  }
  return out;
}

// "gfx908;gfx90a" -> 0x908, 0x90a, so that those of a generation lie together; nothing for other targets.
std::vector<int> gfx_numbers(std::string_view targets) {
  std::vector<int> out;
  for (auto const one : listed(targets))
    if (one.starts_with("gfx")) out.push_back(to_number<int>(one.substr(3), 16).value_or(0));
  return out;
}

bool stands_for(std::string_view targets, std::string const& target) {
  if (targets == target) return true;
  if (auto const gfx = gfx_numbers(target); !gfx.empty()) {
    auto const there = gfx_numbers(targets);
    return std::find(there.begin(), there.end(), gfx[0]) != there.end();
  }
  auto const wanted = capabilities(target), there = capabilities(targets);
  return wanted.size() == 1 && std::find(there.begin(), there.end(), wanted[0]) != there.end();
}

int distance(std::string_view targets, std::string const& target) {
  bool const gfx = target.starts_with("gfx");
  auto const wanted = gfx ? gfx_numbers(target) : capabilities(target);
  int least = 1000;
  for (int const c : gfx ? gfx_numbers(targets) : capabilities(targets))
    if (!wanted.empty()) least = std::min(least, std::abs(c - wanted[0]));
  return least;
}

std::optional<double> throughput(device::Device const& d, Class c) {
  using enum record::InstructionClass;
  static constexpr std::pair<Class, record::InstructionClass> counted[] = {
      {Class::fp32_add, fp32}, {Class::fp32_mul, fp32},   {Class::fp32_fma, fp32},   {Class::fp64, fp64},
      {Class::fp16, fp16},     {Class::int_add, int_add}, {Class::int_mul, int_mul}, {Class::int_mad, int_mul},
      {Class::shift, shift},   {Class::logic, logic},     {Class::sfu, special},     {Class::cvt, convert}};
  for (auto const& [own, of_device] : counted)
    if (own == c) return d.throughput[of_device];
  return c == Class::barrier ? d.throughput_sync : std::nullopt;
}

// Whether a list joined by ; has this name.
bool has_name(std::string_view list, std::string_view name) {
  auto const names = listed(list);
  return std::find(names.begin(), names.end(), name) != names.end();
}

class Resolver {
 public:
  Resolver(device::Device const& device, LatencyTable const& table) : device_(device), table_(table) {
    auto const cc = capabilities(device.target);
    capability_ = cc.empty() ? 0 : cc[0];
    for (auto const& rule : table.issuing)
      if (!device.target.empty() && stands_for(rule.target, device.target)) issuing_ = &rule;
  }
  Resolved resolve();

 private:
  enum class Quantity { latency, gap };

  LatencyGap const* own(Class, Quantity) const;
  LatencyGap const* nearest(Class, Quantity) const;
  std::optional<Figure> from_device(Class, Quantity) const;
  Figure at_bandwidth(double bytes_per_s) const;
  bool shares_l2() const { return capability_ >= 70; }  // rates.hpp says how
  std::optional<Figure> figure(Class, Quantity, unsigned depth = 0);
  std::optional<Figure> step(LatencyFallback const&, Class, Quantity, unsigned depth, std::string& what);
  Unit unit_of(Class) const;
  void set_geometry();
  void bound_l2();
  void choose_ticks();
  void set_cost(Class);
  Ticks ticks(Ratio r) const { return (2 * r.numerator * out_.machine.cycle + r.denominator) / (2 * r.denominator); }

  device::Device const& device_;
  LatencyTable const& table_;
  int capability_ = 0;
  record::IssueRule const* issuing_ = nullptr;
  Resolved out_;
  std::array<std::optional<Figure>, class_count> latency_{}, gap_{};
};

bool has(LatencyGap const& row, bool latency) {
  if (latency) return row.latency_cycles.has_value();
  return row.gap_numerator && row.gap_denominator.value_or(1) > 0;
}

Figure read(LatencyGap const& row, bool latency) {
  if (latency) return {ratio_of(*row.latency_cycles), false};
  auto const ratio = [](std::uint64_t n, std::uint64_t d) {
    return Ratio{static_cast<std::int64_t>(n), static_cast<std::int64_t>(d)}.reduced();
  };
  if (row.subcore_gap_numerator)
    return {ratio(*row.subcore_gap_numerator, std::max<std::uint64_t>(1, row.subcore_gap_denominator.value_or(1))),
            true};
  return {ratio(*row.gap_numerator, row.gap_denominator.value_or(1)), false};
}

LatencyGap const* Resolver::own(Class c, Quantity q) const {
  LatencyGap const* found = nullptr;
  for (LatencyGap const& row : table_.rows) {
    if (row.class_name != name(c) || !has(row, q == Quantity::latency)) continue;
    if (row.measured_on == device_.device) return &row;
    if (!found && row.recommended == "yes" && !device_.target.empty() && stands_for(row.target, device_.target))
      found = &row;
  }
  return found;
}

LatencyGap const* Resolver::nearest(Class c, Quantity q) const {
  LatencyGap const* found = nullptr;
  int least = 1000;
  for (LatencyGap const& row : table_.rows) {
    if (row.class_name != name(c) || row.recommended != "yes" || !has(row, q == Quantity::latency)) continue;
    if (int const far = distance(row.target, device_.target); far < least) {
      least = far;
      found = &row;
    }
  }
  return found;
}

// The gap of a line with which all units together get so many bytes per second.
Figure Resolver::at_bandwidth(double bytes_per_s) const {
  double const bytes_per_cycle =
      line_bytes * device_.clock_hz.value_or(0) * static_cast<double>(device_.compute_units.value_or(0));
  return {Ratio{std::llround(bytes_per_cycle / bytes_per_s * 3840), 3840}.reduced(), false};
}

// What devices.csv states about the device itself: its bandwidths bound the gaps of the memory.
std::optional<Figure> Resolver::from_device(Class c, Quantity q) const {
  if (q != Quantity::gap) return std::nullopt;
  if (c == Class::gmem_load_l2 && device_.l2_bandwidth_bytes_per_s)
    return at_bandwidth(*device_.l2_bandwidth_bytes_per_s);
  if (c == Class::gmem_load_dram && device_.measured_bandwidth_bytes_per_s)
    return at_bandwidth(*device_.measured_bandwidth_bytes_per_s);
  return std::nullopt;
}

std::optional<Figure> Resolver::step(LatencyFallback const& f, Class c, Quantity q, unsigned depth, std::string& what) {
  auto const n = static_cast<std::int64_t>(f.numerator),
             d = static_cast<std::int64_t>(std::max<std::uint64_t>(1, f.denominator));
  if (f.from == "cycles") {
    what = fmt::format("{} cycles", static_cast<double>(n) / static_cast<double>(d));
    return Figure{Ratio{n, d}.reduced(), q == Quantity::gap && c == Class::issue};
  }
  if (f.from == "architecture") {
    LatencyGap const* const row = nearest(c, q);
    if (!row) return std::nullopt;
    what = fmt::format("as on {}", row->target);
    auto figure = read(*row, q == Quantity::latency);
    figure.cycles = figure.cycles.times(n, d);
    return figure;
  }
  if (f.from == "throughput") {
    auto const rate = throughput(device_, c);
    if (!rate || *rate <= 0 || q != Quantity::gap) return std::nullopt;
    what = "by throughput";
    bool const parts = (capability_ >= 50 || issuing_) && device_.schedulers_per_cu && c != Class::barrier;
    auto const all = ratio_of(*rate);
    auto const lanes = static_cast<std::int64_t>(issuing_ ? device_.wave_width.value_or(64) : 32);
    Ratio const gap = Ratio{lanes * all.denominator, all.numerator}.reduced().times(n, d);
    return Figure{parts ? gap.times(static_cast<std::int64_t>(*device_.schedulers_per_cu), 1) : gap, parts};
  }
  if (f.from == "gap") {
    auto const gap = q == Quantity::latency ? figure(c, Quantity::gap, depth + 1) : std::nullopt;
    if (!gap) return std::nullopt;
    what = "as its gap";
    return Figure{gap->cycles.times(n, d), false};
  }
  if (f.from == "global_latency_s") {
    if (!device_.global_latency_s || !device_.clock_hz || q != Quantity::latency) return std::nullopt;
    what = "by global_latency_s";
    return Figure{ratio_of(*device_.global_latency_s * *device_.clock_hz), false};
  }
  if (f.from == "peak_bandwidth") {
    if (!device_.peak_bandwidth_bytes_per_s || !device_.clock_hz || !device_.compute_units) return std::nullopt;
    what = fmt::format("by {} of the peak bandwidth", measured_fraction);
    return at_bandwidth(*device_.peak_bandwidth_bytes_per_s * measured_fraction);
  }
  auto const other = class_named(f.from);
  if (!other) return std::nullopt;
  auto figure = this->figure(*other, q, depth + 1);
  if (!figure) return std::nullopt;
  what = n == d ? "as " + f.from : fmt::format("{}/{} of {}'s", n, d, f.from);
  figure->cycles = figure->cycles.times(n, d);
  return figure;
}

std::optional<Figure> Resolver::figure(Class c, Quantity q, unsigned depth) {
  auto& known = (q == Quantity::latency ? latency_ : gap_)[static_cast<std::size_t>(c)];
  if (known || depth > class_count) return known;
  LatencyGap const* const row = own(c, q);
  bool const calibrated = row && row->measured_on == device_.device;
  if (!calibrated) known = from_device(c, q);
  if (!known && row && (calibrated || c != Class::gmem_load_dram || q == Quantity::latency))
    known = read(*row, q == Quantity::latency);
  if (known) return known;
  std::string const quantity = q == Quantity::latency ? "latency" : "gap";
  for (LatencyFallback const& f : table_.fallbacks) {
    if (f.class_name != name(c) || f.quantity != quantity) continue;
    if (!f.target.empty() && !stands_for(f.target, device_.target)) continue;
    std::string what;
    auto const found = step(f, c, q, depth, what);
    if (!found) continue;
    known = found;
    // What only takes an issue slot is a decision of the model, not a figure of the device.
    if (f.from != "cycles" || c == Class::issue || unit_of(c) != Unit::none)
      out_.assumptions.push_back({c, quantity, fmt::format("{} of {} {}", quantity, name(c), what), f.reason});
    return known;
  }
  return known;
}

Unit Resolver::unit_of(Class c) const {
  if (c == Class::scalar || c == Class::scalar_load) return issuing_ ? Unit::scalar : Unit::none;
  if (issuing_ && c < Class::move) return has_name(issuing_->apart, name(c)) ? Unit::special : Unit::core;
  bool const apart = capability_ >= 70;  // integer lanes beside those of fp32
  switch (c) {
    case Class::fp32_add:
    case Class::fp32_mul:
    case Class::fp32_fma:
    case Class::fp16:
      return Unit::core;
    case Class::fp64:
      return capability_ < 30 && capability_ >= 20 ? Unit::core : Unit::fp64;
    case Class::int_add:
    case Class::logic:
      return apart ? Unit::integer : Unit::core;
    case Class::shift:
      return apart || (capability_ >= 30) ? Unit::integer : Unit::core;
    case Class::int_mul:
    case Class::int_mad:
      return capability_ >= 30 && capability_ < 50 ? Unit::integer : Unit::core;
    case Class::cvt:
      return capability_ >= 30 ? Unit::special : Unit::core;
    case Class::sfu:
      return Unit::special;
    case Class::mma:
      return Unit::tensor;
    case Class::smem_load:
    case Class::smem_store:
    case Class::smem_atomic:
      return Unit::shared;
    case Class::gmem_load_l1:
      return Unit::l1;
    case Class::gmem_load_l2:
    case Class::atomic_global:
      return Unit::l2;
    case Class::gmem_load_dram:
      return Unit::dram;
    case Class::barrier:
      return Unit::barrier;
    default:
      return Unit::none;
  }
}

void Resolver::set_geometry() {
  Machine& m = out_.machine;
  m.device = device_.device;
  m.width = static_cast<unsigned>(device_.wave_width.value_or(32));
  m.units = static_cast<unsigned>(*device_.compute_units);
  m.clock_hz = *device_.clock_hz;
  m.schedulers = static_cast<unsigned>(std::max<std::uint64_t>(1, device_.schedulers_per_cu.value_or(1)));
  m.fp64_takes_all_slots = capability_ >= 20 && capability_ < 30;
  m.rule = device_.global_access_rule.value_or(AccessRule::sectors32);
  m.banks = static_cast<unsigned>(device_.shared_banks.value_or(32));
  m.bank_bytes = static_cast<unsigned>(device_.shared_bank_bytes.value_or(4));
  m.matrix = device_.matrix;
  Caches& c = m.caches;
  c.l1_bytes = static_cast<std::uint64_t>(device_.l1_per_cu_bytes.value_or(0));
  c.l2_bytes = static_cast<std::uint64_t>(device_.l2_bytes.value_or(0));
  c.l1_has_shared = capability_ >= 70 && c.l1_bytes > device_.shared_per_cu_bytes.value_or(~std::uint64_t{0});
  c.l1_takes_loads = issuing_ || (capability_ >= 20 && capability_ < 30) || capability_ == 60 || capability_ >= 70;
  c.l1_takes_read_only = issuing_ || capability_ >= 50;
  c.l1_fills_lines = c.stores_evict = capability_ >= 20 && capability_ < 30;
}

// A tick that divides every gap: a multiple of a 960th of a cycle; gaps of no such tick are rounded.
void Resolver::choose_ticks() {
  std::int64_t ticks = 960;
  for (auto const* figures : {&latency_, &gap_})
    for (std::size_t c = 0; c < class_count; ++c) {
      if (!(*figures)[c]) continue;
      // A sector is a quarter of the line that the gaps of the memory are for.
      std::int64_t const denominator = (*figures)[c]->cycles.denominator * 4;
      if (std::int64_t const all = std::lcm(ticks, denominator); all <= max_ticks) ticks = all;
    }
  out_.machine.cycle = ticks;
}

void Resolver::set_cost(Class c) {
  Cost& cost = out_.machine.of(c);
  auto const i = static_cast<std::size_t>(c);
  cost.unit = unit_of(c);
  cost.latency = latency_[i] ? ticks(latency_[i]->cycles) : 0;
  if (cost.unit == Unit::none || !gap_[i]) return;
  bool const quarter = c == Class::gmem_load_l2 || c == Class::gmem_load_dram;
  cost.gap = ticks(quarter ? gap_[i]->cycles.times(1, 4) : gap_[i]->cycles);
  cost.per_scheduler = gap_[i]->per_scheduler && out_.machine.schedulers > 1;
}

// What the table or a fallback says of the second level, bounded by what the device gives; a calibrated row counts as
// it is.
void Resolver::bound_l2() {
  auto& gap = gap_[static_cast<std::size_t>(Class::gmem_load_l2)];
  if (!shares_l2() || !gap || !(device_.l2_bandwidth_bytes_per_s || device_.memory_bus_bits)) return;
  LatencyGap const* const row = own(Class::gmem_load_l2, Quantity::gap);
  if (row && row->measured_on == device_.device) return;
  Figure const least = at_bandwidth(l2_bytes_per_s(device_, *device_.clock_hz));
  if (gap->cycles.value() < least.cycles.value()) gap = least;
}

Resolved Resolver::resolve() {
  if (!device_.clock_hz || !device_.compute_units || device_.kind != "gpu") {
    out_.missing = device_.kind != "gpu" ? "not a GPU" : "the database lacks its clock or its compute units";
    return out_;
  }
  set_geometry();
  for (std::size_t i = 0; i < class_count; ++i) {
    auto const c = static_cast<Class>(i);
    bool const needs_gap = unit_of(c) != Unit::none || c == Class::issue;
    if ((c != Class::issue && !figure(c, Quantity::latency)) || (needs_gap && !figure(c, Quantity::gap))) {
      out_.missing = fmt::format("devdb/latgap.csv and its fallbacks have no {} of {} for {}",
                                 c != Class::issue && !latency_[i] ? "latency" : "gap", name(c),
                                 device_.target.empty() ? device_.architecture : device_.target);
      return out_;
    }
  }
  LatencyGap const* const l1 = own(Class::gmem_load_l1, Quantity::gap);
  out_.machine.caches.l1_gap_is_of_access = l1 && l1->gap_of.starts_with("warp");
  bound_l2();
  choose_ticks();
  for (std::size_t i = 0; i < class_count; ++i) set_cost(static_cast<Class>(i));
  Machine& m = out_.machine;
  if (shares_l2())
    m.l2_port_gap = static_cast<Ticks>(sector_bytes / queue::Constants{}.l2_port_bytes * static_cast<double>(m.cycle));
  auto const& issue = *gap_[static_cast<std::size_t>(Class::issue)];
  if (issuing_) {
    m.issuing.by_kind = true;
    for (std::size_t k = 0; k < issue_kind_count; ++k)
      m.issuing.kinds[k] = has_name(issuing_->kinds, issue_kind_names[k]);
    m.issuing.staggered = issuing_->staggered == "yes";
    m.issuing.waits = issuing_->waits == "yes";
    m.issuing.wavefront_turn = static_cast<Ticks>(issuing_->wavefront_turn_cycles) * m.cycle;
    LatencyGap const* const load = own(Class::gmem_load_l1, Quantity::gap);
    if (load && load->gap_of.starts_with("64 B")) m.caches.l1_request_bytes = 64;
  }
  m.issue_gap = ticks(issue.per_scheduler ? issue.cycles : issue.cycles.times(m.schedulers, 1));
  return out_;
}

Ticks shared_gap(Ticks gap, double active, unsigned units) {
  return std::llround(static_cast<double>(gap) * std::clamp(active / units, 0.0, 1.0));
}

}  // namespace

Ticks Machine::l2_gap(double active) const {
  Ticks const gap = of(Class::gmem_load_l2).gap;
  return l2_port_gap > 0 ? std::max(l2_port_gap, shared_gap(gap, active, units)) : gap;
}

Ticks Machine::dram_gap(double active) const {
  return std::max<Ticks>(1, shared_gap(of(Class::gmem_load_dram).gap, active, units));
}

record::MatrixRule const* Machine::matrix_rule(std::string_view kind) const {
  auto const at = std::ranges::find_if(matrix, [&](auto const& rule) { return rule.kind == kind; });
  return at == matrix.end() ? nullptr : &*at;
}

Resolved resolve(device::Device const& device, LatencyTable const& table) {
  return Resolver(device, table).resolve();
}

std::optional<Class> class_named(std::string_view text) {
  auto const at = std::find(class_names.begin(), class_names.end(), text);
  if (at == class_names.end()) return std::nullopt;
  return static_cast<Class>(at - class_names.begin());
}

}  // namespace kernelcast::model::ake
