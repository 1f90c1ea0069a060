// Results of simulations and choices: rows of records, and a run as a timeline.
#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <tuple>

#include "models/graph/choose.hpp"
#include "records/simulation.hpp"

namespace kernelcast::graph {

// "0;2;1"
std::string map_text(std::vector<std::size_t> const& map);

// The channel that limited copies longest; empty where none did.
std::string bottleneck(SimulationResult const& result, Interconnect const& system);

// A point; without a result it is infeasible, and `reason` says why.
record::Simulation simulation(Study& study, double n, std::uint32_t parts, std::string const& gpu,
                              std::string const& alloc, Placement const& placement, HostBuffer const& buffer,
                              SimulationResult const* result, std::string const& reason);

// Points of a sweep that an earlier run has done, made with the same options.
class DonePoints {
 public:
  void add(record::Simulation const& row);
  // The row of the same application, size, number and kind of GPUs, system, mode, mapping, host buffer, iterations and
  // clock; null where there is none.
  record::Simulation const* find(record::Simulation const& point) const;
  std::size_t size() const { return rows_.size(); }

 private:
  using Key = std::tuple<std::string, double, std::uint64_t, std::string, std::string, std::string, std::string,
                         std::string, std::uint64_t, std::optional<double>>;
  static Key key(record::Simulation const& row);
  std::map<Key, record::Simulation> rows_;
};

// Choice and sensitivities of one size. Links of each class at 0.75 and 1.25 of their bandwidth.
record::Choice choice(Study& study, double n, std::string const& gpu, Choice const& chosen);
std::vector<record::Sensitivity> sensitivities(Study& study, double n, std::string const& gpu, Choice const& chosen);
// "pcie-:4;nvlink+:8": what changes the number of GPUs.
std::string sensitive_to(std::vector<record::Sensitivity> const& rows, std::uint64_t gpus);

// Kernels and copies of a run as a Chrome trace: a process for each GPU with a lane for kernels, and lanes for copies
// that come and go; one process for the host memories.
void write_timeline(std::ostream& out, Graph const& graph, std::vector<Event> const& events, Placement const& placement,
                    Interconnect const& system);

}  // namespace kernelcast::graph
