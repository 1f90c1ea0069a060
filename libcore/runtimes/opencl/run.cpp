// Launches on the emulator, where they change anything, as long as --budget lasts: groups that do not run leave no
// results, and rows are counted elsewhere (attach/opencl).
#include <chrono>
#include <map>
#include <span>
#include <thread>
#include <tuple>

#include <fmt/format.h>

#include "emulator/cluster.hpp"
#include "runtimes/attach/launch_budget.hpp"
#include "runtimes/attach/settings.hpp"
#include "runtimes/opencl/repeats.hpp"

namespace kernelcast::opencl {

namespace {

constexpr std::size_t tried_groups = 16;  // of a launch whose cost is not known

emu::Limits limits() {
  auto const& settings = attach::settings();
  emu::Limits out;
  out.max_steps = settings.max_steps;
  out.timeout_s = settings.timeout_s;
  out.in_order = settings.in_order;
  return out;
}

unsigned threads() {
  auto const asked = attach::settings().threads;
  return asked > 0 ? static_cast<unsigned>(asked) : std::max(1u, std::thread::hardware_concurrency());
}

// What launches cost, under the lock of all calls.
struct Costs {
  using Size = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  using Configuration = std::tuple<Code const*, std::string, Size, Size>;

  attach::LaunchBudget budget{attach::settings().budget, attach::settings().budget_seconds};
  std::map<Configuration, std::uint64_t> whole_steps;  // warp instructions of all groups

  std::uint64_t& of(PreparedLaunch const& prepared) {
    auto const size = [](emu::Dim3 const& d) { return Size{d.x, d.y, d.z}; };
    return whole_steps[{prepared.code.get(), prepared.kernel, size(prepared.launch.grid), size(prepared.launch.block)}];
  }
};
Costs& costs() {
  static auto* const costs = new Costs;  // lives as long as the process
  return *costs;
}

// Runs groups, and adds what they cost; false where they do not end.
bool run_some(PreparedLaunch& prepared, std::span<std::uint64_t const> groups, std::uint64_t& steps) {
  auto const begin = std::chrono::steady_clock::now();
  auto const outcome = emu::run(prepared.code->program(prepared.kernel), prepared.launch, shared().memory, groups, {},
                                limits(), threads());
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
  costs().budget.spend(outcome.warp_instructions, took.count());
  steps += outcome.warp_instructions;
  if (outcome.ending == emu::Ending::done) return true;
  report(fmt::format("kernel '{}': {}", prepared.kernel,
                     outcome.finding
                         ? fmt::format("{}{}{}", outcome.finding->source, outcome.finding->source.empty() ? "" : ": ",
                                       outcome.finding->message)
                         : "it has not ended within the limits"));
  return false;
}

cl_int cut() {
  report("a launch exceeds --budget: it does not run, or only in part, and its results are missing");
  return CL_SUCCESS;
}

// `whole`: all groups have run.
cl_int run_within_budget(PreparedLaunch& prepared, bool& whole) {
  auto const& budget = costs().budget;
  auto& known = costs().of(prepared);
  if (known > 0 && !budget.affords(known)) return cut();
  std::vector<std::uint64_t> groups(prepared.launch.grid.count());
  for (std::uint64_t g = 0; g < groups.size(); ++g) groups[g] = g;
  std::span<std::uint64_t const> rest(groups);
  std::uint64_t steps = 0;
  auto const& program = prepared.code->program(prepared.kernel);
  bool const in_parts = budget.bounded() && known == 0 && groups.size() > 2 * tried_groups &&
                        !emu::runs_together(program, prepared.launch) && !program.order_dependent();
  if (in_parts) {
    if (!run_some(prepared, rest.first(tried_groups), steps)) return CL_OUT_OF_RESOURCES;
    rest = rest.subspan(tried_groups);
    auto const left = static_cast<std::uint64_t>(static_cast<double>(steps) * static_cast<double>(rest.size()) /
                                                 static_cast<double>(tried_groups));
    if (!budget.affords(steps + left, left)) {
      known = steps + left;
      return cut();
    }
  }
  if (!run_some(prepared, rest, steps)) return CL_OUT_OF_RESOURCES;
  known = steps;
  whole = true;
  return CL_SUCCESS;
}

}  // namespace

cl_int run(PreparedLaunch& prepared) {
  if (prepared.launch.grid.count() == 0) return CL_SUCCESS;
  Touched touched(prepared, attach::settings().execute == "needed");
  if (touched.leave_out()) return CL_SUCCESS;
  bool whole = false;
  auto const begin = std::chrono::steady_clock::now();
  cl_int const status = run_within_budget(prepared, whole);
  touched.ran(whole, std::chrono::steady_clock::now() - begin);
  return status;
}

}  // namespace kernelcast::opencl
