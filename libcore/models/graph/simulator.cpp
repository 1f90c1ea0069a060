#include "models/graph/simulator.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <unordered_map>

#include "base/statistics/splitmix64.hpp"

namespace kernelcast::graph {

namespace {

// Tasks whose ends differ by less than this part of a step end together; keeps rounding from making extra steps.
constexpr double together = 1e-10;
constexpr std::size_t max_remembered = 4096;  // allocations

}  // namespace

int SimulationResult::bottleneck() const {
  int best = -1;
  for (std::size_t c = 0; c < full_s.size(); ++c)
    if (full_s[c] > (best < 0 ? 0 : full_s[static_cast<std::size_t>(best)] * (1 + 1e-9))) best = static_cast<int>(c);
  return best;
}

struct Simulator::State {
  Interconnect const* system;
  SimulationOptions options;

  // The graph as prepared.
  struct Work {
    TaskKind kind;
    std::uint32_t gpu;         // of a kernel
    std::uint32_t connection;  // of a copy, index of `pairs`
    double amount;             // seconds of a kernel, bytes of a copy
    double latency_s;          // of a copy
  };
  std::vector<Work> work;
  std::vector<std::uint32_t> waits_for;  // predecessors
  std::vector<std::uint32_t> successor_begin, successors, roots;
  struct Connection {
    std::uint64_t key;
    std::size_t pair;
    int from_gpu, to_gpu;  // -1: a host
  };
  std::vector<Connection> connections;
  std::vector<int> connection_of_pair;

  // Allocations by the connections under way and how many copies each has.
  struct CachedEntry {
    std::vector<std::pair<std::size_t, std::uint32_t>> members;  // pair, copies where they count
    std::vector<double> rates;                                   // of each member
    std::vector<std::uint32_t> full;                             // channels
    double used_s = 0;                                           // in this run
  };
  std::unordered_map<std::uint64_t, CachedEntry> remembered;
  std::vector<CachedEntry*> used;
  Allocator allocator;
  std::vector<Allocator::Route> routes;
  std::vector<double> rates, load;

  // A run.
  struct Copy {
    double left_bytes;
    std::uint32_t connection, task;
  };
  enum class Phase : std::uint8_t { at_host, latency, kernel };
  struct Timed {  // what is being started, a copy that has not begun to move bytes, or a kernel
    double end_s;
    std::uint32_t task;
    Phase phase;
  };
  std::vector<std::uint32_t> open;  // predecessors left
  std::vector<Copy> copies;
  std::vector<Timed> timed;
  std::vector<std::uint32_t> count;               // copies of each connection
  std::vector<double> copy_rate;                  // of one copy of each connection
  std::vector<std::uint32_t> active;              // connections with copies
  std::vector<std::deque<std::uint32_t>> queue;   // [gpu], kernels that are ready
  std::vector<char> busy;                         // [gpu]
  std::vector<std::uint32_t> sending, receiving;  // [gpu], copies under way
  std::vector<std::uint32_t> held;                // copies that wait for an engine
  std::vector<double> compute_s;                  // [gpu]
  std::vector<std::uint32_t> done, ready, started;
  double host_free_s = 0;
  std::vector<double> start_s;
  std::size_t copies_under_way = 0;
  bool changed = true;
  double now_s = 0;
  SimulationResult result;
  std::vector<Event>* events = nullptr;

  void start(std::uint32_t task);
  void begin(std::uint32_t task);  // once the host has started it
  void start_kernel(std::uint32_t task);
  bool start_copy(std::uint32_t task);
  void move_bytes(std::uint32_t task);
  void allocate();
  CachedEntry& allocation(std::uint64_t key);
  bool same(CachedEntry const& entry) const;
  double step_s() const;
  void advance(double step);
  void finish(std::uint32_t task);
  void run_all();
};

Simulator::Simulator(Interconnect const& system, SimulationOptions const& options) : state_(std::make_unique<State>()) {
  state_->system = &system;
  state_->options = options;
  state_->connection_of_pair.assign(system.endpoint_count() * system.endpoint_count(), -1);
}
Simulator::~Simulator() = default;
Simulator::Simulator(Simulator&&) noexcept = default;
Simulator& Simulator::operator=(Simulator&&) noexcept = default;

void Simulator::prepare(Graph const& graph, std::vector<double> const& kernel_s, Placement const& placement) {
  State& s = *state_;
  auto const& system = *s.system;
  for (auto const& c : s.connections) s.connection_of_pair[c.pair] = -1;
  s.connections.clear();
  s.work.clear();
  s.work.reserve(graph.tasks.size());
  auto const connection = [&](std::size_t from, std::size_t to) {
    std::size_t const pair = system.pair(from, to);
    int& index = s.connection_of_pair[pair];
    if (index < 0) {
      index = static_cast<int>(s.connections.size());
      auto const gpu = [&](std::size_t e) { return e < system.gpu_count() ? static_cast<int>(e) : -1; };
      s.connections.push_back({splitmix64(pair), pair, gpu(from), gpu(to)});
    }
    return static_cast<std::uint32_t>(index);
  };
  for (auto const& task : graph.tasks) {
    State::Work w{task.kind, 0, 0, task.amount, 0};
    std::size_t const gpu = task.kind == TaskKind::join ? 0 : placement.gpu[task.part];
    if (task.kind == TaskKind::kernel) {
      w.gpu = static_cast<std::uint32_t>(gpu);
      w.amount = kernel_s[task.kernel] + s.options.launch_overhead_s;
    } else if (task.kind != TaskKind::join) {
      std::size_t const host = task.kind == TaskKind::d2d ? 0 : system.host(placement.host[task.part]);
      w.connection = task.kind == TaskKind::h2d   ? connection(host, gpu)
                     : task.kind == TaskKind::d2h ? connection(gpu, host)
                                                  : connection(gpu, placement.gpu[task.to]);
      w.latency_s = system.latency_s(s.connections[w.connection].pair) + s.options.copy_overhead_s;
    }
    s.work.push_back(w);
  }
  s.successor_begin = graph.successor_begin;
  s.successors = graph.successors;
  s.waits_for.assign(graph.tasks.size(), 0);
  for (auto const task : graph.successors) ++s.waits_for[task];
  s.roots.clear();
  for (std::uint32_t t = 0; t < s.waits_for.size(); ++t)
    if (s.waits_for[t] == 0) s.roots.push_back(t);
  s.queue.assign(system.gpu_count(), {});
  s.busy.resize(system.gpu_count());
  s.sending.resize(system.gpu_count());
  s.receiving.resize(system.gpu_count());
  s.compute_s.resize(system.gpu_count());
  s.count.resize(s.connections.size());
  s.copy_rate.resize(s.connections.size());
}

void Simulator::State::start(std::uint32_t task) {
  if (options.host_overhead_s <= 0 || work[task].kind == TaskKind::join) return begin(task);
  host_free_s = std::max(host_free_s, now_s) + options.host_overhead_s;
  timed.push_back({host_free_s, task, Phase::at_host});
}

void Simulator::State::begin(std::uint32_t task) {
  switch (work[task].kind) {
    case TaskKind::kernel: {
      auto const gpu = work[task].gpu;
      if (busy[gpu])
        queue[gpu].push_back(task);
      else
        start_kernel(task);
      return;
    }
    case TaskKind::join:
      if (events) start_s[task] = now_s;
      done.push_back(task);
      return;
    default:
      if (!start_copy(task)) held.push_back(task);
  }
}

void Simulator::State::start_kernel(std::uint32_t task) {
  auto const& w = work[task];
  busy[w.gpu] = 1;
  if (events) start_s[task] = now_s;
  compute_s[w.gpu] += w.amount;
  timed.push_back({now_s + w.amount, task, Phase::kernel});
}

// False where an engine is missing.
bool Simulator::State::start_copy(std::uint32_t task) {
  auto const& w = work[task];
  auto const& c = connections[w.connection];
  if (options.copy_engines > 0) {
    if (c.from_gpu >= 0 && sending[static_cast<std::size_t>(c.from_gpu)] >= options.copy_engines) return false;
    if (c.to_gpu >= 0 && receiving[static_cast<std::size_t>(c.to_gpu)] >= options.copy_engines) return false;
    if (c.from_gpu >= 0) ++sending[static_cast<std::size_t>(c.from_gpu)];
    if (c.to_gpu >= 0) ++receiving[static_cast<std::size_t>(c.to_gpu)];
  }
  ++copies_under_way;
  if (events) start_s[task] = now_s;
  if (w.latency_s > 0)
    timed.push_back({now_s + w.latency_s, task, Phase::latency});
  else
    move_bytes(task);
  return true;
}

void Simulator::State::move_bytes(std::uint32_t task) {
  auto const& w = work[task];
  if (!(w.amount > 0)) {
    done.push_back(task);
    return;
  }
  if (count[w.connection]++ == 0) active.push_back(w.connection);
  copies.push_back({w.amount, w.connection, task});
  changed = true;
}

bool Simulator::State::same(CachedEntry const& entry) const {
  if (entry.members.size() != active.size()) return false;
  for (auto const& [pair, copies_of_pair] : entry.members) {
    int const c = connection_of_pair[pair];
    if (c < 0) return false;
    auto const under_way = count[static_cast<std::size_t>(c)];
    if (under_way == 0 || (options.fair_copies && under_way != copies_of_pair)) return false;
  }
  return true;
}

Simulator::State::CachedEntry& Simulator::State::allocation(std::uint64_t key) {
  for (;; key = splitmix64(key)) {  // to the next place where two sets share a key
    auto const found = remembered.find(key);
    if (found == remembered.end()) break;
    if (same(found->second)) return found->second;
  }
  CachedEntry entry;
  routes.clear();
  for (auto const c : active) {
    std::uint32_t const times = options.fair_copies ? count[c] : 1;
    entry.members.emplace_back(connections[c].pair, count[c]);
    for (std::uint32_t i = 0; i < times; ++i) routes.push_back(system->route(connections[c].pair));
  }
  allocator.allocate(options.allocation, system->capacities(), routes, rates);
  load.assign(system->capacities().size(), 0);
  for (std::size_t i = 0; i < routes.size(); ++i)
    for (auto const channel : routes[i]) load[channel] += rates[i];
  for (std::uint32_t channel = 0; channel < load.size(); ++channel)
    if (load[channel] >= system->capacities()[channel] * (1 - 1e-9)) entry.full.push_back(channel);
  std::size_t next = 0;
  for (auto const& member : entry.members) {
    entry.rates.push_back(rates[next]);
    next += options.fair_copies ? member.second : 1;
  }
  return remembered.emplace(key, std::move(entry)).first->second;
}

void Simulator::State::allocate() {
  changed = false;
  if (active.empty()) {
    used.push_back(nullptr);
    return;
  }
  std::uint64_t key = 0;
  for (auto const c : active) key += options.fair_copies ? connections[c].key * count[c] : connections[c].key;
  auto& entry = allocation(key);
  for (std::size_t i = 0; i < entry.members.size(); ++i) {
    auto const c = static_cast<std::size_t>(connection_of_pair[entry.members[i].first]);
    copy_rate[c] = options.fair_copies ? entry.rates[i] : entry.rates[i] / count[c];
  }
  used.push_back(&entry);
}

double Simulator::State::step_s() const {
  double step = std::numeric_limits<double>::infinity();
  for (auto const& t : timed) step = std::min(step, t.end_s - now_s);
  for (auto const& c : copies) step = std::min(step, c.left_bytes / copy_rate[c.connection]);
  return std::max(step, 0.0);
}

void Simulator::State::advance(double step) {
  now_s += step;
  if (copies_under_way > 0) result.copy_s += step;
  if (auto* const entry = used.back()) entry->used_s += step;
  std::size_t kept = 0;
  double const limit = step * (1 + together);
  for (auto& c : copies) {
    double const rate = copy_rate[c.connection];
    // The second holds for the copy that step_s() chose, even where the product is too small for a number.
    if (c.left_bytes <= rate * limit || c.left_bytes / rate <= step) {
      result.bytes += c.left_bytes;
      if (--count[c.connection] == 0) active.erase(std::find(active.begin(), active.end(), c.connection));
      changed = true;
      done.push_back(c.task);
      continue;
    }
    result.bytes += rate * step;
    c.left_bytes -= rate * step;
    copies[kept++] = c;
  }
  copies.resize(kept);
  kept = 0;
  double const soon_s = now_s + step * together;
  std::size_t const present = timed.size();
  for (std::size_t i = 0; i < present; ++i) {
    auto const t = timed[i];
    if (t.end_s > soon_s) {
      timed[kept++] = t;
      continue;
    }
    (t.phase == Phase::kernel ? done : t.phase == Phase::latency ? ready : started).push_back(t.task);
  }
  timed.resize(kept);
  for (auto const task : started) begin(task);
  started.clear();
  for (auto const task : ready) move_bytes(task);
  ready.clear();
}

void Simulator::State::finish(std::uint32_t task) {
  auto const& w = work[task];
  if (events) events->push_back({task, start_s[task], now_s});
  if (w.kind == TaskKind::kernel) {
    ++result.kernels_done;
    busy[w.gpu] = 0;
    if (!queue[w.gpu].empty()) {
      auto const next = queue[w.gpu].front();
      queue[w.gpu].pop_front();
      start_kernel(next);
    }
  } else if (w.kind != TaskKind::join) {
    ++result.copies_done;
    --copies_under_way;
    if (options.copy_engines > 0) {
      auto const& c = connections[w.connection];
      if (c.from_gpu >= 0) --sending[static_cast<std::size_t>(c.from_gpu)];
      if (c.to_gpu >= 0) --receiving[static_cast<std::size_t>(c.to_gpu)];
      std::size_t kept = 0;
      for (auto const waiting : held)
        if (!start_copy(waiting)) held[kept++] = waiting;
      held.resize(kept);
    }
  }
  for (auto s = successor_begin[task]; s < successor_begin[task + 1]; ++s)
    if (--open[successors[s]] == 0) start(successors[s]);
}

void Simulator::State::run_all() {
  for (auto const task : roots) start(task);
  for (;;) {
    // `done` grows while it is worked through: joins, and copies of nothing, end at once.
    for (std::size_t i = 0; i < done.size(); ++i) finish(done[i]);
    done.clear();
    if (copies.empty() && timed.empty()) break;
    if (changed) allocate();
    advance(step_s());
  }
}

SimulationResult const& Simulator::run(std::vector<Event>* events) {
  State& s = *state_;
  if (s.remembered.size() > max_remembered) s.remembered.clear();
  s.open = s.waits_for;
  s.copies.clear();
  s.timed.clear();
  s.active.clear();
  s.held.clear();
  s.done.clear();
  s.used.clear();
  std::fill(s.count.begin(), s.count.end(), 0);
  std::fill(s.busy.begin(), s.busy.end(), 0);
  std::fill(s.sending.begin(), s.sending.end(), 0);
  std::fill(s.receiving.begin(), s.receiving.end(), 0);
  std::fill(s.compute_s.begin(), s.compute_s.end(), 0);
  s.copies_under_way = 0;
  s.changed = true;
  s.now_s = s.host_free_s = 0;
  s.events = events;
  if (events) {
    events->clear();
    s.start_s.assign(s.work.size(), 0);
  }
  auto& r = s.result;
  r.time_s = r.compute_s = r.copy_s = r.bytes = r.kernels_done = r.copies_done = 0;
  s.run_all();
  r.time_s = s.now_s;
  for (double const busy_s : s.compute_s) r.compute_s = std::max(r.compute_s, busy_s);
  r.full_s.assign(s.system->channels().size(), 0);
  for (auto* const entry : s.used) {
    if (!entry || entry->used_s == 0) continue;
    for (auto const channel : entry->full) r.full_s[channel] += entry->used_s;
    entry->used_s = 0;
  }
  return r;
}

std::vector<double> kernel_times(Graph const& graph, Supply const& supplied, std::string const& gpu) {
  std::vector<double> out;
  for (auto const& kernel : graph.kernels)
    out.push_back(kernel.time_s ? *kernel.time_s : kernel_time_s(kernel.demand, supplied, gpu));
  return out;
}

namespace {

// Whether the ends of all tasks of iteration `second` lie one and the same time after those of the one before.
std::optional<double> period(Graph const& graph, std::vector<Event> const& events, std::uint32_t second) {
  std::vector<double> ends(graph.tasks.size());
  for (auto const& e : events) ends[e.task] = e.end_s;
  // Iterations hold the same tasks in the same order.
  std::vector<double> first_ends, second_ends;
  for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
    auto const& task = graph.tasks[t];
    if (task.kind == TaskKind::h2d || task.kind == TaskKind::d2h) continue;
    if (task.iteration + 1 == second) first_ends.push_back(ends[t]);
    if (task.iteration == second) second_ends.push_back(ends[t]);
  }
  if (first_ends.empty() || first_ends.size() != second_ends.size()) return std::nullopt;
  double const period_s = second_ends[0] - first_ends[0];
  for (std::size_t i = 0; i < first_ends.size(); ++i)
    if (std::fabs(second_ends[i] - first_ends[i] - period_s) > 1e-9 * period_s) return std::nullopt;
  return period_s;
}

}  // namespace

SimulationResult simulate_periodic(Simulator& simulator, std::uint32_t iterations,
                                   std::function<Graph const&(std::uint32_t)> const& make,
                                   std::function<std::vector<double>(Graph const&)> const& times,
                                   Placement const& placement) {
  std::vector<Event> events;
  for (std::uint32_t k = 6; k <= 12 && 2 * k + 1 < iterations; k *= 2) {
    simulator.prepare(make(k), times(make(k)), placement);
    SimulationResult const fewer = simulator.run();
    Graph const& graph = make(k + 1);
    simulator.prepare(graph, times(graph), placement);
    SimulationResult more = simulator.run(&events);
    auto const last = period(graph, events, k - 2), before = period(graph, events, k - 3);
    if (!last || !before || std::fabs(*last - *before) > 1e-9 * *last ||
        std::fabs(more.time_s - fewer.time_s - *last) > 1e-9 * *last)
      continue;
    double const times_over = iterations - k - 1;
    auto const extend = [&](double& value, double previous) { value += times_over * (value - previous); };
    extend(more.time_s, fewer.time_s);
    extend(more.compute_s, fewer.compute_s);
    extend(more.copy_s, fewer.copy_s);
    extend(more.bytes, fewer.bytes);
    extend(more.kernels_done, fewer.kernels_done);
    extend(more.copies_done, fewer.copies_done);
    for (std::size_t c = 0; c < more.full_s.size(); ++c) extend(more.full_s[c], fewer.full_s[c]);
    return more;
  }
  Graph const& graph = make(iterations);
  simulator.prepare(graph, times(graph), placement);
  return simulator.run();
}

}  // namespace kernelcast::graph
