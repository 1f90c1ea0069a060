// What a compute graph takes on a multi-GPU system.
//
// Problem: kernels occupy GPUs, copies share the channels of the interconnect; when is everything done?
// Method: events, as in [braun] Listing 3.2 (its intent): whenever a task ends, those that waited only for it start,
// and the bandwidth is allocated anew among the copies under way. Copies between the same two endpoints form one
// connection and share its rate. Allocations are remembered by the set of connections. Identical iterations of an
// application are not simulated one by one, see simulate().
// Beyond [braun], each off by default: a host that starts kernels and copies one after the other, an overhead per
// kernel launch and per copy, the latency of links, a number of copies that a GPU can send and receive at a time.
// Limits: kernels of one GPU run one after the other, in the order in which they become ready; all GPUs are alike.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/graph/allocation.hpp"
#include "models/graph/compute_graph.hpp"
#include "models/graph/interconnect.hpp"

namespace kernelcast::graph {

struct SimulationOptions {
  Allocation allocation = Allocation::maxmin;
  bool fair_copies = false;      // each copy is a connection of its own, instead of each pair of endpoints
  double host_overhead_s = 0;    // of the host's one thread for each kernel and copy, once what it waits for is done
  double launch_overhead_s = 0;  // added to each kernel
  double copy_overhead_s = 0;    // added to each copy, besides the latency of its links
  std::size_t copy_engines = 0;  // copies that a GPU sends, and receives, at a time; 0: any number
};

// Which GPU computes each part, and in which host memory its buffers lie.
struct Placement {
  std::vector<std::size_t> gpu;   // [part]
  std::vector<std::size_t> host;  // [part], number of the host
};

struct Event {
  std::uint32_t task;
  double start_s, end_s;
};

struct SimulationResult {
  double time_s = 0;
  double compute_s = 0;        // kernels of the GPU that computes longest
  double copy_s = 0;           // while at least one copy is under way
  std::vector<double> full_s;  // per channel: while it was full and thereby limited a copy
  double bytes = 0;            // delivered, as the rates add up
  double kernels_done = 0, copies_done = 0;

  // The channel that limited copies longest; -1 where none did.
  int bottleneck() const;
};

class Simulator {
 public:
  Simulator(Interconnect const& system, SimulationOptions const& options);
  ~Simulator();
  Simulator(Simulator&&) noexcept;
  Simulator& operator=(Simulator&&) noexcept;

  // Readies a graph: kernel_s is the time of each of its kernels.
  void prepare(Graph const& graph, std::vector<double> const& kernel_s, Placement const& placement);
  // Runs what is prepared; may be repeated. Events, where wanted, in the order of their ends.
  SimulationResult const& run(std::vector<Event>* events = nullptr);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Kernel times of a graph on a GPU: its own where known, else by (3.1).
std::vector<double> kernel_times(Graph const& graph, Supply const& supply, std::string const& gpu);

// An application's iterations become periodic after a few: a graph of k and one of k + 1 iterations then differ by one
// period, and the ends of all tasks of consecutive iterations by that period too. `make` gives the graph for a number
// of iterations. Simulates 6 and 7 iterations, then 12 and 13, and continues a period up to `iterations`; where there
// is none by then (parts of unequal size drift apart for long), simulates all.
SimulationResult simulate_periodic(Simulator& simulator, std::uint32_t iterations,
                                   std::function<Graph const&(std::uint32_t)> const& make,
                                   std::function<std::vector<double>(Graph const&)> const& times,
                                   Placement const& placement);

}  // namespace kernelcast::graph
