#include "runtimes/cudart/launch.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "kernels/ptx/regions.hpp"
#include "runtimes/attach/kernel_names.hpp"
#include "runtimes/cudart/device_runtime.hpp"
#include "runtimes/cudart/host_waits.hpp"
#include "runtimes/cudart/keep.hpp"
#include "runtimes/cudart/occupancy.hpp"

namespace kernelcast::cudart {

namespace {

// [cuda] "Technical Specifications per Compute Capability"; exceeding them is an invalid configuration.
constexpr std::uint64_t max_block_items = 1024;
constexpr unsigned max_block_size_z = 64;

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

emu::Limits limits_of(attach::Settings const& settings) {
  emu::Limits out;
  out.max_steps = settings.max_steps;
  out.timeout_s = settings.timeout_s;
  out.in_order = settings.in_order;
  return out;
}

Findings::Options findings_of(attach::Settings const& settings) {
  Findings::Options out;
  out.spool = settings.row_spool;
  out.goes_on = settings.goes_on;
  auto const asked = [&](char const* word) {
    return std::ranges::find(settings.checks, word) != settings.checks.end();
  };
  out.checks.uninit = asked("uninit");
  out.checks.races = asked("races");
  out.checks.division = asked("division");
  out.checks.lockstep_warps = asked("lockstep");
  out.checks.findings = static_cast<unsigned>(std::clamp<std::uint64_t>(settings.findings, 1, 1000));
  return out;
}

// A launch that runs, for who watches.
class Running {
 public:
  Running(attach::Usage& usage, std::optional<std::uint64_t> configuration, double expected_s) : usage_(usage) {
    ++usage.executed;
    usage.expected_ns = static_cast<std::uint64_t>(1e9 * expected_s);
    usage.begin_ns = static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
    usage.running = configuration ? *configuration + 1 : 0;
  }
  ~Running() { usage_.running = 0; }
  Running(Running const&) = delete;

 private:
  attach::Usage& usage_;
};

bool is_asked_for(attach::Settings const& settings, Kernel const& kernel) {
  return attach::is_among(settings.kernels, kernel.name) || attach::is_among(settings.kernels, kernel.name_in_rows);
}

// One buffer holds the stacks of all threads of OpenMP's teams, and each thread uses the first of many pages.
std::optional<std::uint64_t> stacks_of_threads(Kernel const& kernel, emu::Launch const& launch) {
  if (!ptx::starts_teams(*kernel.function)) return std::nullopt;
  std::uint64_t address = 0;
  std::memcpy(&address, launch.parameters.data() + kernel.function->parameters[1].offset, sizeof address);
  return address;
}

unsigned threads_of(attach::Settings const& settings) {
  return settings.threads > 0 ? static_cast<unsigned>(settings.threads)
                              : std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

Launcher::Launcher(Parts const& parts)
    : parts_(parts),
      rows_(parts.settings),
      findings_(findings_of(parts.settings), parts.memory),
      run_limits_(limits_of(parts.settings)),
      threads_(threads_of(parts.settings)) {
  run_limits_.passed_over = findings_.passed_over();
  parts_.deferred.set_runner([this](Deferred::Launch const& launch) { return run_deferred(launch); });
}

Code Launcher::check_sizes(Kernel& kernel, LaunchRequest const& request) const {
  auto const& device = parts_.devices.current();
  auto const& [grid, block] = std::tie(request.grid, request.block);
  std::uint64_t const items = std::uint64_t{block.x} * block.y * block.z;
  if (items == 0 || std::uint64_t{grid.x} * grid.y * grid.z == 0) return Code::invalid_configuration;
  if (items > max_block_items || block.z > max_block_size_z) return Code::invalid_configuration;
  auto const& cluster = request.cluster;
  if (std::uint64_t{cluster.x} * cluster.y * cluster.z == 0 || std::uint64_t{cluster.x} * cluster.y * cluster.z > 16 ||
      grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0)
    return Code::invalid_configuration;
  auto const& rule = device.rule;
  auto const is_above = [](unsigned groups, std::optional<std::uint64_t> const& most) {
    return most && groups > *most;
  };
  if (is_above(grid.x, rule.max_grid_x) || is_above(grid.y, rule.max_grid_y) || is_above(grid.z, rule.max_grid_z))
    return Code::invalid_configuration;
  if (items > max_work_items(device, kernel)) return Code::invalid_value;
  std::uint64_t const shared = kernel.ready->static_shared_bytes() + request.shared_bytes;
  if (request.shared_bytes > kernel.max_dynamic_shared_bytes || shared > max_shared_bytes(device))
    return Code::invalid_value;
  if (!request.cooperative) return Code::success;
  auto const most = groups_per_unit(device, kernel, items, request.shared_bytes) * device.compute_units.value_or(1);
  return std::uint64_t{grid.x} * grid.y * grid.z <= most ? Code::success : Code::cooperative_launch_too_large;
}

// [ptx] %envreg1 and 2: where nvcc's barrier over the grid keeps its count.
void Launcher::give_workspace(emu::Launch& launch) {
  if (grid_workspace_ == 0) {
    grid_workspace_ = parts_.memory.add("cooperative launch", 256);
    parts_.commands.leave_out(grid_workspace_);
  }
  launch.envreg[1] = static_cast<std::uint32_t>(grid_workspace_ >> 32);
  launch.envreg[2] = static_cast<std::uint32_t>(grid_workspace_);
}

emu::Launch Launcher::launch_of(Kernel const& kernel, LaunchRequest const& request) {
  emu::Launch out;
  out.grid = {request.grid.x, request.grid.y, request.grid.z};
  out.block = {request.block.x, request.block.y, request.block.z};
  out.dynamic_shared_bytes = static_cast<std::uint32_t>(request.shared_bytes);
  out.stack_bytes = static_cast<std::uint32_t>(parts_.limits.stack_bytes());
  out.cooperative = request.cooperative;
  out.cluster = {request.cluster.x, request.cluster.y, request.cluster.z};
  if (request.cooperative) give_workspace(out);
  out.print = print;
  out.parameters.resize(kernel.function->parameter_bytes);
  for (std::size_t p = 0; p < kernel.function->parameters.size(); ++p) {
    auto const& parameter = kernel.function->parameters[p];
    std::memcpy(out.parameters.data() + parameter.offset, request.arguments[p], parameter.size);
  }
  if (auto const stacks = stacks_of_threads(kernel, out)) parts_.memory.use_sparsely(*stacks);
  return out;
}

emu::Outcome Launcher::run_all(Kernel const& kernel, emu::Launch const& launch, Observers observers) const {
  std::vector<std::uint64_t> groups(launch.grid.count());
  for (std::uint64_t g = 0; g < groups.size(); ++g) groups[g] = g;
  return emu::run(*kernel.ready, launch, parts_.memory, groups, observers, run_limits_, threads_);
}

static void count_cut(attach::Usage& usage) {
  ++usage.cut;
  report("a launch exceeds --budget: groups that are not counted do not run, and their results are missing");
}

// With --budget a launch that costs more than is left runs only the groups that are counted: none, where its
// configuration has a row.
emu::Outcome Launcher::run_within_budget(Kernel const& kernel, emu::Launch const& launch, Rows::Begun const& begun,
                                         Observers observers, std::function<void()> const& seen) {
  auto& budget = rows_.budget();
  auto& deferred = parts_.deferred;
  auto const& [configuration, counted] = begun;
  if (!counted && observers.empty() && deferred.takes(kernel, launch, configuration)) return {};
  auto& usage = parts_.timeline.usage();
  if (!counted && !affords(configuration)) {
    count_cut(usage);
    deferred.after(kernel, launch, std::nullopt);
    return {};
  }
  deferred.before(kernel, launch);
  Running const running(usage, configuration, counted ? 0 : expected_s(configuration));
  auto const begin = std::chrono::steady_clock::now();
  auto outcome = counted ? counted->run(parts_.memory, run_limits_, threads_, budget, observers, seen)
                         : run_all(kernel, launch, observers);
  bool const whole = !counted || counted->whole();
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
  if (whole)
    budget.spend(outcome.warp_instructions, took.count());
  else
    count_cut(usage);
  if (counted && configuration) rows_.whole_steps(*configuration) = counted->whole_steps();
  deferred.after(kernel, launch, whole ? std::optional(outcome.warp_instructions) : std::nullopt);
  return outcome;
}

bool Launcher::affords(std::optional<std::uint64_t> configuration) {
  return !configuration || rows_.budget().affords(rows_.whole_steps(*configuration));
}

void Launcher::run_library(LibraryCall const& made, std::function<void()> const& work) {
  auto& deferred = parts_.deferred;
  if (deferred.takes(made, work)) return;
  bool const runs = rows_.budget().affords(0);
  if (runs) {
    deferred.before(made);
    work();
  } else {
    report("a library's call exceeds --budget: its results are missing");
  }
  deferred.after(made, runs);
}

double Launcher::expected_s(std::optional<std::uint64_t> configuration) {
  return configuration ? rows_.budget().seconds_for(rows_.whole_steps(*configuration)) : 0;
}

std::optional<std::uint64_t> Launcher::run_deferred(Deferred::Launch const& deferred) {
  if (parts_.error.code != Code::success) return std::nullopt;
  auto& usage = parts_.timeline.usage();
  if (!affords(deferred.configuration)) {
    count_cut(usage);
    return std::nullopt;
  }
  Running const running(usage, deferred.configuration, expected_s(deferred.configuration));
  auto const begin = std::chrono::steady_clock::now();
  auto const outcome = run_all(*deferred.kernel, deferred.launch, {});
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
  rows_.budget().spend(outcome.warp_instructions, took.count());
  if (bool const told = findings_.launched(outcome); outcome.ending != emu::Ending::done)
    if (auto const why = fail(outcome); !told) report(why);
  if (outcome.ending != emu::Ending::done) return std::nullopt;
  return outcome.warp_instructions;
}

std::string Launcher::fail(emu::Outcome const& outcome) {
  parts_.error.code = outcome.ending == emu::Ending::finding ? code_of(outcome.finding->kind) : Code::launch_timeout;
  if (outcome.ending == emu::Ending::finding || outcome.ending == emu::Ending::text_limit)
    return text_of(*outcome.finding, outcome.finding->message);
  return "it has not ended within the limits";
}

Code Launcher::launch(Kernel& kernel, LaunchRequest const& request) {
  if (!parts_.streams.known(request.stream)) return Code::invalid_resource_handle;
  if (auto const failure = parts_.registry.prepare(kernel); failure != Code::success) return failure;
  if (auto const refused = check_sizes(kernel, request); refused != Code::success) return refused;
  if (!request.arguments && !kernel.function->parameters.empty()) return Code::invalid_value;
  auto launched = launch_of(kernel, request);
  if (waits_for_host(kernel, launched, parts_.memory, parts_.allocations)) {
    held_.push_back({next_held_++, &kernel, request, std::move(launched)});
    return Code::success;
  }
  return run(kernel, request, std::move(launched));
}

// The default stream and one that does not ignore it wait for each other.
bool Launcher::concerns(Held const& held, Stream stream) const {
  constexpr unsigned non_blocking = 1;
  auto const blocks = [&](Stream s) {
    return Streams::is_default(s) || (parts_.streams.known(s) && (s->flags & non_blocking) == 0);
  };
  if (held.request.stream == stream) return true;
  return (Streams::is_default(stream) || Streams::is_default(held.request.stream)) && blocks(stream) &&
         blocks(held.request.stream);
}

bool Launcher::release(std::optional<Stream> stream, bool must, std::uint64_t serial) {
  for (std::size_t h = 0; h < held_.size();) {
    if (held_[h].serial > serial || (stream && !concerns(held_[h], *stream))) {
      ++h;
      continue;
    }
    auto* const kernel = parts_.registry.kernel(held_[h].kernel);
    if (kernel && !must && waits_for_host(*kernel, held_[h].launch, parts_.memory, parts_.allocations)) return false;
    auto held = std::move(held_[h]);
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(h));
    if (kernel) run(*kernel, held.request, std::move(held.launch));
  }
  return true;
}

void Launcher::destroyed(Stream stream) {
  for (auto& held : held_)
    if (held.request.stream == stream) held.request.stream = nullptr;
}

Code Launcher::run(Kernel& kernel, LaunchRequest const& request, emu::Launch launched) {
  DeviceRuntime runtime({parts_.devices, parts_.memory, parts_.registry, *this, parts_.error}, *kernel.program);
  launched.external = [&runtime](emu::ExternalCall const& called) { return runtime.answer(called); };
  auto const begun = rows_.begin(kernel, launched, parts_.allocations.used_bytes(current_device()));
  auto const& [configuration, counted] = begun;
  ++parts_.timeline.usage().launches;
  if (parts_.settings.timeline && configuration) {
    auto const pinned_bytes = parts_.timeline.reached(request.stream, launched.parameters);
    parts_.timeline.kernel(request.stream, kernel.name_in_rows, case_of(launched), pinned_bytes);
  }
  std::optional<KeptLaunch> kept;
  if (counted && parts_.settings.keep && is_asked_for(parts_.settings, kernel)) {
    parts_.deferred.run_all();
    kept.emplace(KeptLaunch::From{parts_.memory, parts_.textures, rows_.spool()}, kernel, request, counted->number());
  }
  std::optional<attach::GroupRanges> ranges;
  if (parts_.commands.wanted() && configuration) ranges.emplace(parts_.commands.ranges_of(launched));
  std::vector<emu::Observer*> observers;
  if (ranges) observers.push_back(&*ranges);
  if (auto* const checks = findings_.check(*kernel.ready, launched)) observers.push_back(checks);
  std::optional<std::string> touched_before;
  auto const finish = [&] { touched_before = rows_.finish(*counted, kernel, parts_.memory, parts_.touched); };
  auto const outcome = run_within_budget(kernel, launched, begun, observers, finish);
  bool const told = findings_.launched(outcome);
  if (outcome.ending == emu::Ending::done) {
    if (ranges) parts_.commands.launched(*configuration, launched, *ranges);
    if (counted && !touched_before)
      finish();
    else if (!counted && configuration)
      rows_.touch(*configuration, launched, parts_.memory, parts_.touched);
    if (kept) kept->publish(touched_before.value_or(""));
    runtime.run();
    return Code::success;
  }
  auto const why = fail(outcome);
  if (!told) report(why);
  bool const found = outcome.ending == emu::Ending::finding;
  if (counted && !touched_before)
    rows_.skip(*counted, kernel, found ? why + "\nhint: --on-finding continue goes on past it, and gives a row" : why);
  if (kept) kept->publish({});
  return Code::success;
}

}  // namespace kernelcast::cudart
