#include "models/graph/compute_graph.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace kernelcast::graph {

std::string_view name(TaskKind kind) {
  static constexpr std::array<std::string_view, 5> names{"kernel", "h2d", "d2h", "d2d", "join"};
  return names.at(static_cast<std::size_t>(kind));
}

Supply supply(device::Device const& d) {
  double const units = static_cast<double>(d.compute_units.value_or(0)), clock_hz = d.clock_hz.value_or(0);
  double const banks = static_cast<double>(d.shared_banks.value_or(0) * d.shared_bank_bytes.value_or(0));
  using enum record::InstructionClass;
  return {d.peak_bandwidth_bytes_per_s.value_or(0),
          banks * d.shared_passes_per_cu_cycle.value_or(0) * units * clock_hz,
          d.peak_fp64_flop_per_s.value_or(0),
          d.peak_fp32_flop_per_s.value_or(0),
          d.throughput[int_add].value_or(0) * units * clock_hz,
          d.throughput[logic].value_or(0) * units * clock_hz};
}

double kernel_time_s(Demand const& demand, Supply const& supplied, std::string const& gpu) {
  double time_s = 0;
  for (std::size_t r = 0; r < demand.size(); ++r) {
    if (demand[r] == 0) continue;
    if (!(supplied[r] > 0))
      throw Error(
          Status::unavailable,
          fmt::format("the device database does not say how many {} a '{}' does per second", resource_names[r], gpu),
          "add the figure to your copy of the database, or give kernel times with --times");
    time_s = std::max(time_s, demand[r] / supplied[r]);
  }
  return time_s;
}

std::string Graph::label(std::size_t index) const {
  auto const& task = tasks[index];
  std::string out = names[task.name];
  if (n == 0 && iterations == 1) return out;  // from a file: names are unique
  auto const part = [&](std::uint32_t p) { return fmt::format("({},{})", p / part_columns, p % part_columns); };
  if (task.kind != TaskKind::join) out += part(task.part);
  if (task.kind == TaskKind::d2d) out += "to" + part(task.to);
  if (iterations > 1) out += fmt::format("#{}", task.iteration);
  return out;
}

double Graph::bytes_copied() const {
  double sum = 0;
  for (auto const& task : tasks)
    if (task.kind != TaskKind::kernel) sum += task.amount;
  return sum;
}

double Graph::operations(std::size_t resource) const {
  double sum = 0;
  for (auto const& task : tasks)
    if (task.kind == TaskKind::kernel) sum += kernels[task.kernel].demand[resource];
  return sum;
}

void set_edges(Graph& graph, std::vector<std::pair<std::uint32_t, std::uint32_t>> const& edges) {
  graph.successor_begin.assign(graph.tasks.size() + 1, 0);
  for (auto const& [before, after] : edges) ++graph.successor_begin[before + 1];
  for (std::size_t t = 0; t < graph.tasks.size(); ++t) graph.successor_begin[t + 1] += graph.successor_begin[t];
  graph.successors.resize(edges.size());
  auto next = graph.successor_begin;
  for (auto const& [before, after] : edges) graph.successors[next[before]++] = after;
}

std::vector<std::uint32_t> find_cycle(Graph const& graph) {
  enum : char { unseen, open, closed };
  std::vector<char> state(graph.tasks.size(), unseen);
  std::vector<std::pair<std::uint32_t, std::size_t>> stack;  // task, next successor
  for (std::uint32_t root = 0; root < graph.tasks.size(); ++root) {
    if (state[root] != unseen) continue;
    stack.assign(1, {root, 0});
    state[root] = open;
    while (!stack.empty()) {
      auto const task = stack.back().first;
      auto const after = graph.successors_of(task);
      if (stack.back().second == after.size()) {
        state[task] = closed;
        stack.pop_back();
        continue;
      }
      auto const next = after[stack.back().second++];
      if (state[next] == open) {
        std::vector<std::uint32_t> cycle;
        auto const from = std::find_if(stack.begin(), stack.end(), [&](auto const& s) { return s.first == next; });
        for (auto at = from; at != stack.end(); ++at) cycle.push_back(at->first);
        return cycle;
      }
      if (state[next] == unseen) {
        state[next] = open;
        stack.emplace_back(next, 0);
      }
    }
  }
  return {};
}

std::pair<std::uint32_t, std::uint32_t> near_square(std::uint32_t parts) {
  auto rows = static_cast<std::uint32_t>(std::sqrt(static_cast<double>(parts)));
  while (rows > 1 && parts % rows != 0) --rows;
  rows = std::max(rows, 1U);
  return {rows, parts / rows};
}

}  // namespace kernelcast::graph
