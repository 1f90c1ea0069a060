// Launching: threads, each with a machine and observers of its own, take pieces of the grid in order.
#include <algorithm>
#include <exception>
#include <functional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/diag/diag.hpp"
#include "emulator/cluster.hpp"
#include "emulator/machine/clusters.hpp"
#include "emulator/machine/residents.hpp"

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

// Neighbouring groups. Threads take pieces in order; the finding of the earliest piece is the one to report.
struct Piece {
  std::span<std::uint64_t const> groups;
  std::optional<Fault> fault;
  std::string printed;
};
struct Pieces {
  std::vector<Piece> all;
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> stopped{~std::size_t{0}};  // the earliest piece with a finding: later ones are moot
};

// The first worker is the calling thread with the caller's observers; others have forks of them.
struct Worker {
  std::vector<std::unique_ptr<Observer>> forks;
  std::vector<Observer*> observers;
  std::exception_ptr error;
  std::uint64_t warp_instructions = 0;
};

void print(Launch const& launch, std::string const& text) {
  if (!text.empty()) launch.print(text);
}

// `residents`: where later groups run when one waits for them; null: none does.
void run_piece(Machine& machine, Residents* residents, Pieces& pieces, std::size_t index, Launch const& launch,
               Budget& budget) {
  Piece& piece = pieces.all[index];
  // The only piece prints at once; what several print is put in order at the end.
  if (pieces.all.size() == 1 && !residents) machine.print_at_once();
  auto const deliver = [&] {
    std::string const text = residents ? residents->take_printed() + machine.take_printed() : machine.take_printed();
    if (pieces.all.size() == 1) budget.text_bytes = 0;
    if (pieces.all.size() == 1)
      print(launch, text);
    else
      piece.printed += text;
  };
  TurnLength const length = !residents           ? TurnLength::endless
                            : launch.cooperative ? TurnLength::short_turns
                                                 : TurnLength::long_turn;
  try {
    for (std::span<std::uint64_t const> rest = piece.groups; !rest.empty();) {
      if (pieces.stopped.load(std::memory_order_relaxed) < index) return;
      std::size_t const count = std::min(machine.groups_at_once(), rest.size());
      machine.begin(rest.first(count), length);
      rest = rest.subspan(count);
      bool done = machine.turn();
      if (!done && !rest.empty()) {
        residents->run(machine, std::exchange(rest, {}));
      } else {
        while (!done) done = machine.turn();
        machine.end();
      }
      deliver();
    }
    return;
  } catch (Fault& fault) {
    piece.fault = std::move(fault);
  } catch (Stop& stop) {
    piece.fault = Fault{std::move(stop.finding), Ending::finding};
  }
  deliver();
  std::size_t before = pieces.stopped.load();
  while (before > index && !pieces.stopped.compare_exchange_weak(before, index)) {
  }
}

// A thread, its machine and its observers cost some 50 microseconds: none is started for less than this.
constexpr double min_help_s = 1e-3;

// `call` fetches the other workers.
void work(Worker& worker, Pieces& pieces, bool several, bool may_wait, bool among_threads, Program const& program,
          Launch const& launch, Memory& memory, Budget& budget, std::function<void()> call) {
  using Clock = std::chrono::steady_clock;
  try {
    Machine machine(program, launch, memory, worker.observers, budget, several);
    if (among_threads) machine.share_memory();
    std::optional<Residents> residents;
    if (may_wait) residents.emplace(program, launch, memory, worker.observers, budget);
    auto const begin = Clock::now();
    for (std::size_t index; (index = pieces.next.fetch_add(1)) < pieces.all.size();) {
      run_piece(machine, residents ? &*residents : nullptr, pieces, index, launch, budget);
      if (pieces.all[index].fault) break;
      double const piece_s =
          std::chrono::duration<double>(Clock::now() - begin).count() / static_cast<double>(index + 1);
      if (call && piece_s * static_cast<double>(pieces.all.size() - index - 1) > min_help_s) std::exchange(call, {})();
    }
    worker.warp_instructions = machine.warp_instructions();
    if (residents) {
      residents->join();
      worker.warp_instructions += residents->warp_instructions();
    }
  } catch (...) {
    worker.error = std::current_exception();
    pieces.stopped = 0;
  }
}

// By as many as run side by side, so that these are the same whatever the number of threads; several pieces for each
// thread, for groups need not take the same time.
void cut(Pieces& pieces, std::span<std::uint64_t const> groups, std::size_t at_once, unsigned threads) {
  std::size_t const count = threads == 1 ? 1 : std::size_t{8} * threads;
  std::size_t size = (groups.size() + count - 1) / count;
  if (threads > 1) size = (size + at_once - 1) / at_once * at_once;
  for (; !groups.empty(); groups = groups.subspan(std::min(size, groups.size())))
    pieces.all.push_back({groups.first(std::min(size, groups.size())), std::nullopt, {}});
}

}  // namespace

Finding found_at(Program const& program, Launch const& launch, Finding::Kind kind, std::uint64_t group,
                 std::uint32_t work_item, std::uint32_t instruction, std::string message) {
  Finding f;
  f.kind = kind;
  f.kernel = program.kernel().name;
  ptx::Instruction const& i = program.kernel().instructions[instruction];
  f.at = i.at;
  // Code without a line of its own (a compiler's expansion of a division) belongs to what comes before it.
  ptx::SourcePosition source = i.source;
  for (std::uint32_t before = instruction; source.line == 0 && before > 0; --before)
    source = program.kernel().instructions[before - 1].source;
  f.source = program.module().describe(source);
  f.source_column = source.column;
  Dim3 const &g = launch.grid, &b = launch.block;
  f.group = group;
  f.group_id = {static_cast<std::uint32_t>(group % g.x), static_cast<std::uint32_t>(group / g.x % g.y),
                static_cast<std::uint32_t>(group / g.x / g.y)};
  f.local_id = {work_item % b.x, work_item / b.x % b.y, work_item / b.x / b.y};
  f.global_id = {f.group_id.x * b.x + f.local_id.x, f.group_id.y * b.y + f.local_id.y,
                 f.group_id.z * b.z + f.local_id.z};
  f.message = std::move(message);
  return f;
}

namespace {

// How a launch runs, apart from its observers.
struct Way {
  bool several = false;   // small groups may run side by side
  bool may_wait = false;  // groups may turn out to wait for each other
  unsigned threads = 1;
};

Outcome run_all(Program const& program, Launch const& launch, Memory& memory, std::span<std::uint64_t const> groups,
                std::span<Observer* const> observers, Budget& budget, Way way) {
  Pieces pieces;
  cut(pieces, groups, Machine::packing(program, launch, observers, way.several).groups(), way.threads);
  unsigned const threads = static_cast<unsigned>(std::clamp<std::size_t>(pieces.all.size(), 1, way.threads));
  std::vector<Worker> workers(threads);
  workers[0].observers.assign(observers.begin(), observers.end());
  auto const run_worker = [&](Worker& worker, std::function<void()> call) {
    work(worker, pieces, way.several, way.may_wait, threads > 1, program, launch, memory, budget, std::move(call));
  };
  {
    std::vector<std::jthread> others;
    auto const call = [&] {
      for (unsigned t = 1; t < threads; ++t) {
        for (Observer const* o : observers)
          workers[t].observers.push_back(workers[t].forks.emplace_back(o->fork()).get());
        try {
          others.emplace_back([&, t] { run_worker(workers[t], {}); });
        } catch (std::system_error const&) {  // no more threads: those that there are do it
          workers[t].forks.clear();
          return;
        }
      }
    };
    run_worker(workers[0], threads > 1 ? std::function<void()>(call) : nullptr);
  }

  Outcome outcome;
  for (Worker& worker : workers) {
    if (worker.error) std::rethrow_exception(worker.error);
    for (std::size_t i = 0; i < worker.forks.size(); ++i) observers[i]->join(*worker.forks[i]);
    outcome.warp_instructions += worker.warp_instructions;
  }
  for (Piece& piece : pieces.all) {
    print(launch, piece.printed);
    if (!piece.fault) continue;
    outcome.ending = piece.fault->ending;
    outcome.spinning = piece.fault->spinning;
    outcome.finding = std::move(piece.fault->finding);
    break;
  }
  return outcome;
}

Outcome run_clusters(Program const& program, Launch const& launch, Memory& memory,
                     std::span<std::uint64_t const> groups, std::span<Observer* const> observers, Budget& budget,
                     Dim3 size) {
  Clusters clusters(program, launch, memory, observers, budget, size);
  Outcome outcome;
  auto const stopped = [&](Finding&& finding, Ending ending, bool spinning) {
    outcome.ending = ending;
    outcome.spinning = spinning;
    outcome.finding = std::move(finding);
  };
  try {
    clusters.run(groups);
  } catch (Fault& fault) {
    stopped(std::move(fault.finding), fault.ending, fault.spinning);
  } catch (Stop& stop) {
    stopped(std::move(stop.finding), Ending::finding, false);
  }
  clusters.join();
  outcome.warp_instructions = clusters.warp_instructions();
  print(launch, clusters.take_printed());
  return outcome;
}

// What memory held, to be put back.
class Snapshot {
 public:
  static constexpr std::uint64_t max_bytes = std::uint64_t{256} << 20;

  static bool possible(Memory const& memory) {
    if (!Machine::reaches_buffers_only(memory)) return false;
    std::uint64_t bytes = 0;
    for (Memory::Buffer const& b : memory.buffers()) bytes += b.freed ? 0 : b.size;
    return bytes <= max_bytes;
  }
  explicit Snapshot(Memory const& memory) {
    for (Memory::Buffer const& b : memory.buffers())
      if (!b.freed) copies_.emplace_back(b.data, std::vector<std::byte>(b.data, b.data + b.size));
  }
  void put_back() const {
    for (auto const& [to, bytes] : copies_) std::copy(bytes.begin(), bytes.end(), to);
  }

 private:
  std::vector<std::pair<std::byte*, std::vector<std::byte>>> copies_;
};

// Small groups side by side, although some observer needs them one by one: see Observer::packed_substitute. Empty where
// that is not possible or was inconclusive; memory is then as before.
std::optional<Outcome> try_side_by_side(Program const& program, Launch const& launch, Memory& memory,
                                        std::span<std::uint64_t const> groups, std::span<Observer* const> observers,
                                        Budget& budget) {
  if (std::all_of(observers.begin(), observers.end(), [](Observer const* o) { return o->accepts_packs(); })) return {};
  if (budget.max_steps != 0 || !Snapshot::possible(memory)) return {};
  if (Machine::packing(program, launch, {}, true).groups() == 1) return {};
  std::vector<std::unique_ptr<Observer>> owned;
  std::vector<Observer*> watching;
  for (Observer const* o : observers) {
    owned.push_back(o->accepts_packs() ? o->fork() : o->packed_substitute(program, launch, memory));
    if (!owned.back()) return {};
    watching.push_back(owned.back().get());
  }
  Snapshot const before(memory);
  auto* const passed_over = std::exchange(budget.passed_over, nullptr);  // groups that run again would count again
  try {
    auto outcome = run_all(program, launch, memory, groups, watching, budget, {true, false, 1});
    if (outcome.ending == Ending::done) {
      for (std::size_t i = 0; i < observers.size(); ++i)
        if (observers[i]->accepts_packs()) observers[i]->join(*watching[i]);
      return outcome;
    }
  } catch (Inconclusive const&) {
  } catch (Error const&) {  // will come again
  }
  before.put_back();
  budget.passed_over = passed_over;
  return {};
}

}  // namespace

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
  budget.max_memory_bytes = limits.max_memory_bytes;
  budget.max_text_bytes = limits.max_memory_bytes ? limits.max_memory_bytes : memory.limit_bytes();
  budget.timed = limits.timeout_s > 0;
  budget.passed_over = limits.passed_over;
  budget.stop = limits.stop;
  if (budget.timed)
    budget.deadline =
        std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                               std::chrono::duration<double>(limits.timeout_s));
  if (program.order_dependent() || limits.in_order || limits.max_steps != 0 || threads == 0) threads = 1;
  bool const several = groups.size() > 1 && !limits.in_order && !launch.cooperative;
  bool ordered = limits.in_order;
  for (Observer const* o : observers) ordered |= o->needs_order();
  if (ordered || launch.cooperative) threads = 1;
  if (launch.cooperative && ordered && groups.size() > 1)
    throw Error(Status::unavailable,
                "kernel '" + std::string(program.kernel().name) +
                    "' is launched cooperatively: its groups cannot run one after the other",
                "traces and checks for races or unwritten memory need them to; leave these out");
  if (Dim3 const cluster = cluster_of(program, launch); cluster.count() > 1) {
    bool const refused = limits.in_order || std::ranges::any_of(observers, [](Observer const* o) {
                           return o->needs_order() && !o->follows_clusters();
                         });
    if (refused || launch.cooperative)
      throw Error(Status::unavailable,
                  "kernel '" + std::string(program.kernel().name) + "' has clusters: their groups run together, " +
                      (refused ? "and cannot run one after the other" : "and not with all of the grid"),
                  refused ? "checks for unwritten memory need groups in order; leave these out"
                          : "launch it without clusters, or not cooperatively");
    return run_clusters(program, launch, memory, groups, observers, budget, cluster);
  }
  // Only what synchronises can wait for another group.
  bool const may_wait = groups.size() > 1 && threads == 1 && !limits.in_order && program.order_dependent() &&
                        std::ranges::all_of(observers, &Observer::follows_waiting_groups);
  if (several)
    if (auto outcome = try_side_by_side(program, launch, memory, groups, observers, budget)) return *std::move(outcome);
  return run_all(program, launch, memory, groups, observers, budget, {several, may_wait, std::max(threads, 1u)});
}

}  // namespace kernelcast::emu
