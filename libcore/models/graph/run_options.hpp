// What the options of partsim mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/graph/choose.hpp"
#include "records/cli/cli.hpp"
#include "records/device/device.hpp"

namespace kernelcast::graph {

struct RunOptions {
  std::vector<std::string> apps, gpus_models, systems, sizes, gpu_counts, host_buffers, maps, times, kernel_gpus;
  std::string graph, devdb, alloc = "maxmin", fair = "pairs", emit, timeline, shard, resume;
  std::uint32_t iterations = 100;
  double launch_overhead_s = 0, copy_overhead_s = 0;
  std::optional<double> host_overhead_s, clock_hz;
  std::size_t copy_engines = 0;
  bool choose = false, every_iteration = false;
};

// "4096", "4096:61440:4096" (both ends included), several; each must be a whole number of 1 or more.
std::vector<double> sizes(std::vector<std::string> const& texts);
// "4", "1-16", several; without any: all up to `most`.
std::vector<std::uint32_t> gpu_counts(std::vector<std::string> const& texts, std::size_t most);
// "host0", "nearest"; `any` (without any): each host and nearest.
std::vector<HostBuffer> host_buffers(std::vector<std::string> const& texts, Interconnect const& system, bool any);
// --map of at least as many GPUs as there are parts, else 0, 1, 2, …
std::vector<std::size_t> map_of(std::vector<std::string> const& texts, Interconnect const& system, std::uint32_t parts);
// Advice counts what the host takes to start kernels and copies unless it is given; a simulation is [braun]'s
// otherwise.
inline constexpr double default_host_overhead_s =
    5e-6;  // where the device's was not measured; devdb: 2.9 to 8.7 us on NVIDIA's
SimulationOptions simulation_options(RunOptions const&, device::Device const& gpu);

// "scan=1"; throws Error(usage) for what is none, and for a kernel that the program has not.
KernelParts kernel_parts(std::vector<std::string> const& texts, std::vector<std::string> const& kernels);
std::string text_of(KernelParts const&);

}  // namespace kernelcast::graph
