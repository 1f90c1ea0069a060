// The compute graph of a partitioned application: kernels and copies with what they need, and their dependences.
//
// Source: [braun] 3.2.3. Tasks are kernels on a part, copies from the host to a part, from a part to the host, and from
// part to part, and joins, which take no time (the start and end nodes). GPUs are not named here: parts are mapped to
// them later.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diag/diag.hpp"
#include "records/device/device.hpp"

namespace kernelcast::graph {

// What a kernel uses, [braun] 3.2.1.
inline constexpr std::array<std::string_view, 6> resource_names{"global_bytes", "shared_bytes", "fp64_flops",
                                                                "fp32_flops",   "int_ops",      "logic_ops"};
using Demand = std::array<double, resource_names.size()>;

// What a GPU supplies of each resource per second; 0: the database does not say.
using Supply = std::array<double, resource_names.size()>;
// Peaks, as [braun] has it: every resource at its full throughput.
Supply supply(device::Device const& gpu);

// [braun] (3.1): the largest quotient of demand and supply; seconds. Throws Error(unavailable) where something is
// demanded that the database has no figure for.
double kernel_time_s(Demand const& demand, Supply const& supply, std::string const& gpu);

enum class TaskKind : std::uint8_t { kernel, h2d, d2h, d2d, join };
std::string_view name(TaskKind);

struct Task {
  TaskKind kind = TaskKind::join;
  std::uint32_t name = 0;       // in Graph::names
  std::uint32_t part = 0;       // of a kernel and of the GPU end of a copy; the source of a d2d
  std::uint32_t to = 0;         // the destination of a d2d
  std::uint32_t iteration = 0;  // of an application's loop
  double amount = 0;            // bytes of a copy
  std::uint32_t kernel = 0;     // in Graph::kernels, of a kernel
};

// Kernel tasks that take the same time.
struct Kernel {
  std::string name;
  Demand demand{};
  double elements = 0;
  std::optional<double> time_s;  // where it is known and no demand counts
  Where where;                   // in the graph's file
};

struct Graph {
  std::string app;
  double n = 0;  // problem size; 0 for a graph from a file
  std::uint32_t parts = 1, part_rows = 1, part_columns = 1;
  std::uint32_t iterations = 1;
  std::vector<std::string> names;
  std::vector<Task> tasks;
  std::vector<Kernel> kernels;
  std::vector<double> memory_bytes;                           // per part; empty where it is not known
  std::vector<std::uint32_t> successor_begin{0}, successors;  // those of task t: [begin[t], begin[t + 1])

  std::span<std::uint32_t const> successors_of(std::size_t task) const {
    return {successors.data() + successor_begin[task], successor_begin[task + 1] - successor_begin[task]};
  }
  // "sweep(0,1)#3": name, part by row and column, iteration; for people and files.
  std::string label(std::size_t task) const;
  double bytes_copied() const;
  double operations(std::size_t resource) const;  // demand over all kernels
};

// Fills successor_begin and successors. `edges` are pairs (before, after).
void set_edges(Graph& graph, std::vector<std::pair<std::uint32_t, std::uint32_t>> const& edges);

// Tasks of one cycle in order; empty where there is none.
std::vector<std::uint32_t> find_cycle(Graph const& graph);

// Near-square factors, rows <= columns; a prime is one row. [braun] 3.2.3
std::pair<std::uint32_t, std::uint32_t> near_square(std::uint32_t parts);

}  // namespace kernelcast::graph
