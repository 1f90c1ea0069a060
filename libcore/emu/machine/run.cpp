// Launching: groups in contiguous chunks over threads, each with a machine and observers of its own.
#include <algorithm>
#include <exception>
#include <thread>

#include "diag/diag.hpp"
#include "emu/machine/machine.hpp"

namespace kernelcast::emu {

namespace {

void check(Program const& program, Launch const& launch) {
  ptx::Function const& kernel = program.kernel();
  if (launch.parameters.size() < kernel.parameter_bytes)
    throw Error(Status::usage,
                "kernel '" + std::string(kernel.name) + "' takes " + std::to_string(kernel.parameter_bytes) +
                    " bytes of parameters, got " + std::to_string(launch.parameters.size()),
                "give every argument of the kernel");
  if (launch.grid.count() == 0 || launch.block.count() == 0)
    throw Error(Status::usage, "kernel '" + std::string(kernel.name) + "': an empty grid or group",
                "every dimension must be at least 1");
  if (launch.block.count() > 1024)
    throw Error(
        Status::usage,
        "kernel '" + std::string(kernel.name) + "': a group of " + std::to_string(launch.block.count()) + " work-items",
        "a group has at most 1024 work-items");
}

struct Part {
  std::span<std::uint64_t const> groups;
  std::vector<std::unique_ptr<Observer>> forks;
  std::vector<Observer*> observers;
  std::optional<Fault> fault;
  std::exception_ptr error;
  std::uint64_t warp_instructions = 0;
};

void work(Part& part, unsigned index, std::atomic<unsigned>& stopped, Program const& program, Launch const& launch,
          Memory& memory, Budget& budget) {
  try {
    Machine machine(program, launch, memory, part.observers, budget, part.groups.size() > 1);
    try {
      for (std::span<std::uint64_t const> rest = part.groups; !rest.empty();) {
        // A finding in an earlier part makes this one moot; the earliest is the one to report.
        if (stopped.load(std::memory_order_relaxed) < index) break;
        std::size_t const count = std::min(machine.groups_at_once(), rest.size());
        machine.run_groups(rest.first(count));
        rest = rest.subspan(count);
      }
    } catch (Fault& fault) {
      part.fault = std::move(fault);
    } catch (Stop& stop) {
      part.fault = Fault{std::move(stop.finding), Ending::finding};
    }
    if (part.fault) {
      unsigned before = stopped.load();
      while (before > index && !stopped.compare_exchange_weak(before, index)) {
      }
    }
    part.warp_instructions = machine.warp_instructions();
  } catch (...) {
    part.error = std::current_exception();
  }
}

}  // namespace

Finding found_at(Program const& program, Launch const& launch, Finding::Kind kind, std::uint64_t group,
                 std::uint32_t work_item, std::uint32_t instruction, std::string message) {
  Finding f;
  f.kind = kind;
  f.kernel = program.kernel().name;
  ptx::Instruction const& i = program.kernel().instructions[instruction];
  f.at = i.at;
  f.source = program.module().describe(i.source);
  Dim3 const &g = launch.grid, &b = launch.block;
  f.group = group;
  f.group_id = {static_cast<std::uint32_t>(group % g.x), static_cast<std::uint32_t>(group / g.x % g.y),
                static_cast<std::uint32_t>(group / g.x / g.y)};
  f.local_id = {work_item % b.x, work_item / b.x % b.y, work_item / b.x / b.y};
  f.message = std::move(message);
  return f;
}

Outcome run(Program const& program, Launch const& launch, Memory& memory, std::span<std::uint64_t const> groups,
            std::span<Observer* const> observers, Limits const& limits, unsigned threads) {
  check(program, launch);
  for (std::uint64_t group : groups)
    if (group >= launch.grid.count())
      throw Error(Status::usage,
                  "group " + std::to_string(group) + " is outside the grid of " + std::to_string(launch.grid.count()),
                  "groups count from 0");
  Machine::prepare(program, memory);
  Budget budget;
  budget.max_steps = limits.max_steps;
  budget.timed = limits.timeout_s > 0;
  if (budget.timed)
    budget.deadline =
        std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                               std::chrono::duration<double>(limits.timeout_s));
  if (program.order_dependent() || limits.max_steps != 0 || threads == 0) threads = 1;
  for (Observer const* o : observers)
    if (o->asks_for_order()) threads = 1;
  threads = static_cast<unsigned>(std::min<std::size_t>(threads, std::max<std::size_t>(groups.size(), 1)));

  std::vector<Part> parts(threads);
  for (unsigned t = 0; t < threads; ++t) {
    // By eights, so that the same groups run side by side whatever the number of threads.
    auto const cut = [&](std::size_t part) {
      return part == threads ? groups.size() : groups.size() * part / threads / max_warps_per_unit * max_warps_per_unit;
    };
    std::size_t const begin = cut(t), end = cut(t + 1);
    parts[t].groups = groups.subspan(begin, end - begin);
    for (Observer* o : observers) {
      if (threads == 1) {
        parts[t].observers.push_back(o);
      } else {
        parts[t].forks.push_back(o->fork());
        parts[t].observers.push_back(parts[t].forks.back().get());
      }
    }
  }
  std::atomic<unsigned> stopped{threads};
  if (threads == 1) {
    work(parts[0], 0, stopped, program, launch, memory, budget);
  } else {
    std::vector<std::jthread> workers;
    for (unsigned t = 0; t < threads; ++t)
      workers.emplace_back([&, t] { work(parts[t], t, stopped, program, launch, memory, budget); });
  }

  Outcome outcome;
  for (Part& part : parts) {
    if (part.error) std::rethrow_exception(part.error);
    for (std::size_t i = 0; i < part.forks.size(); ++i) observers[i]->join(*part.forks[i]);
    outcome.warp_instructions += part.warp_instructions;
    if (part.fault && !outcome.finding) {
      outcome.ending = part.fault->ending;
      outcome.spinning = part.fault->spinning;
      outcome.finding = std::move(part.fault->finding);
    }
  }
  return outcome;
}

}  // namespace kernelcast::emu
