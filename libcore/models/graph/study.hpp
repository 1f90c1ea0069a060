// One application, or one graph, on one kind of GPU in one system: any number of points of it.
//
// Keeps graphs and allocations from point to point, so that searches over mappings do not build them anew.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/graph/application.hpp"
#include "models/graph/recording.hpp"
#include "models/graph/simulator.hpp"
#include "models/graph/split.hpp"
#include "records/projection.hpp"

namespace kernelcast::graph {

// Where the host buffers lie.
struct HostBuffer {
  std::optional<std::size_t> host;  // empty: each part's in the host memory nearest to its GPU
  std::string text() const;
};

// Kernel times that another model gave, by kernel and GPU. The case of a row says what it is the time of: `N` the whole
// problem on one GPU, `N/G` the largest of G parts; for kernels of a graph file anything, when there is one row only,
// or the label of the node.
class ProjectedTimes {
 public:
  void add(record::Projection const& row);
  bool empty() const { return times_.empty(); }
  std::optional<double> of_case(std::string const& kernel, std::string const& gpu, std::string const& case_name) const;
  std::optional<double> only(std::string const& kernel, std::string const& gpu) const;
  // Rows of cases `N`, by N.
  std::map<double, double> by_size(std::string const& kernel, std::string const& gpu) const;

 private:
  std::map<std::pair<std::string, std::string>, std::map<std::string, double>> times_;
};

class Study {
 public:
  Study(Application const& application, Interconnect const& system, device::Device const& gpu,
        SimulationOptions const& options, std::uint32_t iterations, ProjectedTimes const* projected = nullptr);
  Study(Graph graph, Interconnect const& system, device::Device const& gpu, SimulationOptions const& options,
        ProjectedTimes const* projected = nullptr);

  // A recorded program: any number of parts, of the one size that it had.
  Study(Recording recording, Interconnect const& system, device::Device const& gpu, SimulationOptions const& options,
        ProjectedTimes const* projected = nullptr);

  // Why this point cannot be run: too few GPUs, a part without rows, a part that does not fit into a GPU's memory.
  // Empty where it can.
  std::string infeasible(double n, std::uint32_t parts);

  Placement placement(std::vector<std::size_t> const& map, HostBuffer const& buffer) const;

  // The time of a point that is feasible. Repeated iterations are not simulated one by one, unless `events` wants them.
  SimulationResult simulate(double n, std::uint32_t parts, Placement const& placement,
                            std::vector<Event>* events = nullptr);

  // About the time of simulate(): that of 8 iterations, continued as it grew since the fourth. For searches.
  double estimate_s(double n, std::uint32_t parts, Placement const& placement);

  // The graph of a point with that many iterations; valid until the next call with another point.
  Graph const& graph(double n, std::uint32_t parts, std::uint32_t iterations);
  std::vector<double> times(Graph const& graph);
  // No mapping takes less: the critical path with every copy alone on the widest route there is, and what the host
  // memories must carry. Seconds.
  double lower_bound_s(double n, std::uint32_t parts);

  Interconnect const& system() const { return *system_; }
  void set_system(Interconnect const& system);  // the same shape with other bandwidths
  // Of a recorded program: its kernels in the order of their first launches, and over how many GPUs they are divided.
  std::vector<std::string> kernels() const;
  void set_kernel_parts(KernelParts of_kernels);
  std::uint32_t iterations() const { return iterations_; }
  std::string const& app() const { return app_name_; }
  bool from_file() const { return !application_; }  // there is one size
  bool recorded() const { return recording_.has_value(); }
  bool divisible() const { return application_ || recording_; }  // there is a graph for any number of parts

 private:
  struct Key {
    double n;
    std::uint32_t parts, iterations;
    auto operator<=>(Key const&) const = default;
  };
  Application const* application_ = nullptr;
  std::optional<Recording> recording_;
  std::string app_name_;
  Interconnect const* system_;
  device::Device const* gpu_;
  SimulationOptions options_;
  std::uint32_t iterations_ = 1;
  ProjectedTimes const* projected_;
  Supply supply_;
  Simulator simulator_;
  KernelParts kernel_parts_;
  std::map<Key, Graph> graphs_;
  std::map<std::pair<double, std::uint32_t>, std::string> misfits_;
};

}  // namespace kernelcast::graph
