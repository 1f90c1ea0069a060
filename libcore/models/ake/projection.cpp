#include "models/ake/projection.hpp"

#include <algorithm>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/ake/match.hpp"
#include "models/rates.hpp"

namespace kernelcast::model::ake {

namespace {

constexpr double busy_enough = 0.5;  // a unit less busy than that does not decide the time: waiting does

std::string name_of(Scheduler s, Machine const& m) {
  if (m.issuing.by_kind) return "oldest";
  return s == Scheduler::gto ? "gto" : s == Scheduler::rr ? "rr" : "two-level";
}

void add(std::string& reason, std::string const& text) {
  if (text.empty() || reason.find(text) != std::string::npos) return;
  reason += (reason.empty() ? "" : "; ") + text;
}

}  // namespace

Fit fit(record::Trace const& launch, device::Device const& device) {
  auto registers = device::registers_for(launch, device);
  auto const occupancy =
      device::occupancy(device, registers, launch.shared_bytes.value_or(0), launch.block.value_or(1));
  return {occupancy.groups_per_cu, registers.count.value_or(0), occupancy.misfit,
          fmt::format("{}", fmt::join(registers.notes, "; "))};
}

// What the runs of one order add up to.
struct Projector::Run {
  double cycles = 0, full_cycles = 0, tail_cycles = 0;
  std::uint64_t instructions = 0;
  std::array<double, unit_count> busy{};
  std::array<double, stall_count> stall{};
  double warp_cycles = 0, drain_cycles = 0;
  double dram_sectors = 0;
  double atomics_cycles = 0;  // of launches that last as long as their global atomics

  void at_least(double atomics) {
    if (atomics > cycles) cycles = atomics_cycles = atomics;
  }
  void add(Outcome const& o, double times, double cycle) {
    double const cycles_of_run = static_cast<double>(o.end) / cycle;
    cycles += times * cycles_of_run;
    instructions += o.instructions;
    for (std::size_t u = 0; u < unit_count; ++u) busy[u] += times * static_cast<double>(o.busy[u]) / cycle;
    for (std::size_t s = 0; s < stall_count; ++s) stall[s] += times * static_cast<double>(o.stall[s]) / cycle;
    warp_cycles += times * static_cast<double>(o.warp_ticks) / cycle;
    drain_cycles += times * static_cast<double>(o.end - o.last_issue) / cycle;
  }
  void add(Run const& other) {
    cycles += other.cycles;
    full_cycles += other.full_cycles;
    tail_cycles += other.tail_cycles;
    instructions += other.instructions;
    for (std::size_t u = 0; u < unit_count; ++u) busy[u] += other.busy[u];
    for (std::size_t s = 0; s < stall_count; ++s) stall[s] += other.stall[s];
    warp_cycles += other.warp_cycles;
    drain_cycles += other.drain_cycles;
    dram_sectors += other.dram_sectors;
    atomics_cycles += other.atomics_cycles;
  }
};

struct Projector::Sum {
  std::string kernel, case_name;
  record::RowStatus status = record::RowStatus::ok;
  std::string reason;
  Run program, list, sass;
  bool has_sass = false;
  std::uint64_t launches = 0, groups_traced = 0, full_waves = 0, tail_groups = 0;
  std::size_t groups_per_cu = 0, warps_per_cu = 0;
  std::uint64_t l1_sectors = 0, l1_hits = 0, l2_sectors = 0, l2_hits = 0;
};

Projector::Projector(device::Device const& device, Resolved resolved, Options options)
    : device_(device), resolved_(std::move(resolved)), options_(std::move(options)) {}

Projector::Sum& Projector::sum_of(Launch const& launch) {
  for (auto const& sum : sums_)
    if (sum->kernel == launch.head.kernel && sum->case_name == launch.head.case_name) return *sum;
  sums_.push_back(std::make_shared<Sum>());
  sums_.back()->kernel = launch.head.kernel;
  sums_.back()->case_name = launch.head.case_name;
  return *sums_.back();
}

// As perfcast.
std::pair<record::RowStatus, std::string> Projector::refusal_of_products(Kernel const& kernel) const {
  for (auto const& block : kernel.blocks)
    for (Instruction const& i : block) {
      if (i.product.kind.empty() || !device_.knows_matrix) continue;
      auto const* const rule = device_.matrix_rule(i.product.kind);
      if (!rule) return {record::RowStatus::infeasible, device::no_matrix_unit(i.product.kind)};
      if (!rule->flop_per_cycle) return {record::RowStatus::unknown, device::no_matrix_rate(i.product.kind)};
    }
  return {record::RowStatus::ok, {}};
}

// The classes that the kernel uses and the table lacks for this device.
std::string Projector::assumptions_of(Kernel const& kernel) const {
  std::set<Class> used{Class::issue};
  bool assumes_products = false;
  for (auto const& block : kernel.blocks)
    for (Instruction const& i : block) {
      assumes_products |= i.type.instruction_class == Class::mma && !resolved_.machine.matrix_rule(i.product.kind);
      bool const copy = i.type.kind == Kind::copy, moves = i.type.kind == Kind::load || i.type.kind == Kind::store;
      if (copy) used.insert(Class::smem_store);
      if (!copy && (!moves || i.type.space == Space::shared)) used.insert(i.type.instruction_class);
      if (!copy && ((!moves && i.type.kind != Kind::atomic) || i.type.space == Space::shared)) continue;
      used.insert(Class::gmem_load_dram);
      if (options_.memory.kind == MemoryMode::Kind::none) continue;
      if (resolved_.machine.caches.l2_bytes > 0) used.insert(Class::gmem_load_l2);
      if (resolved_.machine.caches.l1_bytes > 0) used.insert(Class::gmem_load_l1);
    }
  std::vector<std::string> words;
  for (Assumption const& a : resolved_.assumptions)
    if (used.contains(a.instruction_class) &&
        (a.instruction_class != Class::mma || a.quantity == "latency" || assumes_products))
      words.push_back(a.words);
  return fmt::format("{}", fmt::join(words, ", "));
}

record::Kernel const* Projector::slots_of(record::Trace const& launch) const {
  if (!options_.slots || !resolved_.machine.issuing.by_kind) return nullptr;
  return options_.slots->find(launch.kernel, launch.case_name, device_.target);
}

Fit Projector::fit(record::Trace launch) const {
  if (auto const* const row = slots_of(launch)) {
    launch.target = row->target;
    launch.registers_target = row->registers_target;
  }
  return ake::fit(launch, device_);
}

void Projector::add(Launch const& launch, std::function<void(Issue const&)> const& observe) {
  Sum& sum = sum_of(launch);
  if (sum.status != record::RowStatus::ok) return;
  auto const give_up = [&](record::RowStatus status, std::string const& why) {
    sum.status = status;
    sum.reason = why;
  };
  if (!resolved_.missing.empty()) return give_up(record::RowStatus::unknown, resolved_.missing);
  Machine const& m = resolved_.machine;
  if (launch.width() != m.width)
    return give_up(record::RowStatus::unknown,
                   fmt::format("a trace of wavefronts of {}, the device has {}: miniemu --width {}", launch.width(),
                               m.width, m.width));
  Fit const place = fit(launch.head);
  if (place.groups_per_cu == 0) return give_up(record::RowStatus::infeasible, place.misfit);
  if (auto const [status, why] = refusal_of_products(*launch.kernel); !why.empty()) return give_up(status, why);
  std::string const assumed = assumptions_of(*launch.kernel);
  if (options_.strict && !assumed.empty()) return give_up(record::RowStatus::unknown, "not in latgap.csv: " + assumed);
  if (!assumed.empty()) ake::add(sum.reason, "assumed: " + assumed);
  ake::add(sum.reason, place.note);
  if (options_.launch_cost.unknown_on(device_)) ake::add(sum.reason, device::launch_cost_unknown);
  ++sum.launches;
  emulate_launch(launch, place, sum, observe);
}

void Projector::emulate_launch(Launch const& launch, Fit const& place, Sum& sum,
                               std::function<void(Issue const&)> const& observe) {
  Machine const& m = resolved_.machine;
  std::uint64_t const groups = launch.groups_total();
  std::uint64_t const per_unit = (groups + m.units - 1) / m.units;
  std::size_t const resident = static_cast<std::size_t>(std::min<std::uint64_t>(place.groups_per_cu, per_unit));
  auto const active = static_cast<double>(std::min<std::uint64_t>(m.units, groups));
  Prepared const prepared = prepare(launch, m, options_.memory, resident, active);
  sum.groups_traced = std::max<std::uint64_t>(sum.groups_traced, prepared.groups.size());
  sum.groups_per_cu = std::max(sum.groups_per_cu, resident);
  sum.warps_per_cu = std::max(sum.warps_per_cu, resident * launch.warps_per_group());
  sum.l1_sectors += prepared.l1_sectors;
  sum.l1_hits += prepared.l1_hits;
  sum.l2_sectors += prepared.l2_sectors;
  sum.l2_hits += prepared.l2_hits;
  if (options_.memory.kind == MemoryMode::Kind::simulated && prepared.groups.size() < resident)
    ake::add(sum.reason, fmt::format("{} of {} resident groups traced: hits between the others are not seen "
                                     "(miniemu --groups resident:{})",
                                     prepared.groups.size(), resident, resident));
  if (options_.memory.warm && !prepared.stays_warm && m.caches.l2_bytes > 0)
    ake::add(sum.reason, fmt::format("{:.1f} MB touched, more than the second level: it starts cold",
                                     prepared.footprint_bytes / 1e6));
  double const atomics =
      global_atomics_s({prepared.atomic_same_address, prepared.atomic_sectors / 4}, device_, m.clock_hz) * m.clock_hz;
  auto const add_run = [&](Run& to, Code const& code, Prepared const& made,
                           std::function<void(Issue const&)> const& see) {
    Run one = run(launch, code, made, resident, see);
    one.at_least(atomics);
    to.add(one);
  };
  Listing const* sass = options_.sass ? find_listing(*options_.sass, launch.head.kernel) : nullptr;
  if (sass && std::ranges::any_of(prepared.groups, [](Group const& g) { return !g.events.empty(); })) {
    sass = nullptr;
    ake::add(sum.reason, "numbered barriers, mbarriers, tcgen05: not matched with a listing");
  }
  std::function<void(Issue const&)> const ignore;
  if (sass) {
    Matched const matched = match(*sass, *launch.kernel, Flow(*launch.kernel, prepared.groups));
    Prepared followed;
    for (Group const& group : prepared.groups) followed.groups.push_back(follow(group, *launch.kernel, matched));
    ake::add(sum.reason, fmt::format("machine code for {} of {} blocks, {} of {} accesses", matched.blocks,
                                     launch.kernel->blocks.size(), matched.accesses, matched.accesses_all));
    sum.has_sass = true;
    add_run(sum.sass, compile(matched.kernel, m, Order::program, 0), followed, observe);
  } else if (options_.sass && !options_.sass->empty() && !find_listing(*options_.sass, launch.head.kernel)) {
    ake::add(sum.reason, "not in the listing");
  }
  Kernel lowered;
  Kernel const* kernel = launch.kernel;
  if (auto const* const row = slots_of(launch.head)) {
    lowered = lower(*kernel, prepared.groups, slot_ratios(*row, m.width));
    kernel = &lowered;
    ake::add(sum.reason, fmt::format("slots of {}'s machine code", row->target));
  }
  if (options_.list_order)
    add_run(sum.list, compile(*kernel, m, Order::list, place.registers), prepared, sass ? ignore : observe);
  if (options_.program_order)
    add_run(sum.program, compile(*kernel, m, Order::program, 0), prepared,
            sass || options_.list_order ? ignore : observe);
  if (options_.replace) return;
  std::uint64_t const wave = std::uint64_t{resident} * m.units;
  sum.full_waves += groups / wave;
  sum.tail_groups += groups % wave;
}

Projector::Run Projector::run(Launch const& launch, Code const& code, Prepared const& prepared, std::size_t resident,
                              std::function<void(Issue const&)> const& observe) const {
  Machine const& m = resolved_.machine;
  auto const cycle = static_cast<double>(m.cycle);
  std::uint64_t const groups = launch.groups_total();
  Setting setting;
  setting.scheduler = options_.scheduler;
  setting.dual_issue = options_.dual_issue;
  setting.active_warps = options_.active_warps;
  setting.observe = observe;
  auto const places = [&](std::uint64_t n) {
    std::vector<Group const*> out;
    for (std::uint64_t p = 0; p < n; ++p) out.push_back(&prepared.groups[p % prepared.groups.size()]);
    return out;
  };
  double const per_group = static_cast<double>(groups);
  Run total;
  if (options_.replace) {
    setting.groups = (groups + m.units - 1) / m.units;
    setting.active_units = static_cast<double>(std::min<std::uint64_t>(m.units, groups));
    setting.launch_ticks = static_cast<Ticks>(options_.group_launch_cycles * cycle);
    Outcome const o = emulate(m, code, places(resident), setting);
    total.add(o, 1, cycle);
    total.full_cycles = total.cycles;
    total.dram_sectors = static_cast<double>(o.dram_sectors) * per_group /
                         static_cast<double>(std::max(setting.groups, std::uint64_t{1}));
    return total;
  }
  std::uint64_t const wave = std::uint64_t{resident} * m.units;
  if (std::uint64_t const full = groups / wave; full > 0) {
    setting.active_units = m.units;
    Outcome const o = emulate(m, code, places(resident), setting);
    total.add(o, static_cast<double>(full), cycle);
    total.full_cycles = total.cycles;
    total.dram_sectors += static_cast<double>(o.dram_sectors) * static_cast<double>(full) * m.units;
    setting.observe = {};
  }
  if (std::uint64_t const rest = groups % wave; rest > 0) {
    std::uint64_t const per_unit = (rest + m.units - 1) / m.units;
    setting.active_units = static_cast<double>(rest) / static_cast<double>(per_unit);
    Outcome const o = emulate(m, code, places(per_unit), setting);
    double const before = total.cycles;
    total.add(o, 1, cycle);
    total.tail_cycles = total.cycles - before;
    total.dram_sectors += static_cast<double>(o.dram_sectors) * setting.active_units;
  }
  return total;
}

record::Emulation Projector::row_of(Sum const& sum) const {
  record::Emulation row;
  row.kernel = sum.kernel;
  row.case_name = sum.case_name;
  row.device = device_.device;
  row.model = model_name;
  row.status = sum.status;
  row.reason = sum.reason;
  if (sum.status != record::RowStatus::ok) return row;
  Run const& chosen = sum.has_sass ? sum.sass : options_.list_order ? sum.list : sum.program;
  double const clock = resolved_.machine.clock_hz;
  auto const seconds = [&](Run const& r) { return r.cycles / clock; };
  row.time_s = row.time_low_s = row.time_high_s = seconds(chosen);
  auto const order = [&](bool there, Run const& run, record::Emulation::Number& column) {
    if (!there) return;
    column = seconds(run);
    row.time_low_s = std::min(*row.time_low_s, *column);
    row.time_high_s = std::max(*row.time_high_s, *column);
  };
  order(options_.program_order, sum.program, row.time_program_order_s);
  order(options_.list_order, sum.list, row.time_list_order_s);
  order(sum.has_sass, sum.sass, row.time_sass_s);
  row.cycles = chosen.cycles;
  row.order = sum.has_sass ? "sass" : options_.list_order ? "list" : "program";
  row.scheduler = name_of(options_.scheduler, resolved_.machine);
  row.cache = options_.memory.kind == MemoryMode::Kind::none    ? "none"
              : options_.memory.kind == MemoryMode::Kind::given ? "given"
              : options_.memory.warm                            ? "warm"
                                                                : "simulated";
  row.groups_traced = sum.groups_traced;
  row.groups_per_cu = sum.groups_per_cu;
  row.warps_per_cu = sum.warps_per_cu;
  row.full_waves = sum.full_waves;
  row.tail_groups = sum.tail_groups;
  row.full_wave_cycles = chosen.full_cycles;
  row.tail_cycles = chosen.tail_cycles;
  row.warp_instructions = chosen.instructions;
  double const cycles = chosen.cycles > 0 ? chosen.cycles : 1;
  record::Emulation::Number* const busy[] = {&row.busy_issue,   &row.busy_core,    &row.busy_integer, &row.busy_fp64,
                                             &row.busy_special, &row.busy_shared,  &row.busy_l1,      &row.busy_l2,
                                             &row.busy_dram,    &row.busy_barrier, &row.busy_scalar,  &row.busy_tensor};
  // A scheduler that issues by kind is no limit: its units are.
  std::size_t busiest = resolved_.machine.issuing.by_kind ? 1 : 0;
  for (std::size_t u = 0; u < unit_count; ++u) {
    *busy[u] = chosen.busy[u] / cycles;
    if (chosen.busy[u] > chosen.busy[busiest] && (u > 0 || busiest == 0)) busiest = u;
  }
  double const lives = chosen.warp_cycles > 0 ? chosen.warp_cycles : 1;
  row.stall_dependency = chosen.stall[0] / lives;
  row.stall_memory = chosen.stall[1] / lives;
  row.stall_barrier = chosen.stall[2] / lives;
  row.stall_issue = chosen.stall[3] / lives;
  row.limiter = unit_limiters[busiest];
  if (*busy[busiest] < busy_enough) {
    // After the last issue only data are under way.
    double const drain = chosen.drain_cycles / cycles;
    double const dependency = *row.stall_dependency * (1 - drain), barrier = *row.stall_barrier * (1 - drain);
    double const memory = *row.stall_memory * (1 - drain) + drain;
    row.limiter = memory >= std::max(dependency, barrier) ? record::Limiter::memory_wait
                  : dependency >= barrier                 ? record::Limiter::dependency_wait
                                                          : record::Limiter::barrier_wait;
  }
  if (chosen.atomics_cycles > cycles / 2) row.limiter = record::Limiter::atomics;
  if (auto const each = options_.launch_cost.on(device_)) {
    double const launches_s = *each * static_cast<double>(sum.launches);
    if (launches_s > *row.time_s) row.limiter = record::Limiter::launch;
    for (auto* const time_s : {&row.time_s, &row.time_low_s, &row.time_high_s}) **time_s += launches_s;
  }
  auto const limiter = record::value_named<record::Limiter>(row.limiter.text());
  auto const model =
      options_.launch_cost.on(device_) ? record::ResidualModel::ake_launches : record::ResidualModel::ake;
  if (device_.residuals.at(model, limiter, *row.time_s).high > 0) device_.residuals.bound(row, model, limiter);
  if (options_.memory.kind != MemoryMode::Kind::none) {
    if (sum.l1_sectors) row.l1_hit = static_cast<double>(sum.l1_hits) / static_cast<double>(sum.l1_sectors);
    if (sum.l2_sectors) row.l2_hit = static_cast<double>(sum.l2_hits) / static_cast<double>(sum.l2_sectors);
  }
  row.dram_bytes = chosen.dram_sectors * sector_bytes;
  if (resolved_.machine.issuing.by_kind) {
    row.status = record::RowStatus::unvalidated;
    ake::add(row.reason, fmt::format("no measurement of {} has tested this model", device_.target));
  }
  return row;
}

std::vector<record::Emulation> Projector::rows() {
  std::vector<record::Emulation> out;
  for (auto const& sum : sums_) out.push_back(row_of(*sum));
  sums_.clear();
  return out;
}

}  // namespace kernelcast::model::ake
