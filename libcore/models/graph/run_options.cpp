#include "models/graph/run_options.hpp"
#include "base/diag/text.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "records/cli/values.hpp"

namespace kernelcast::graph {

std::vector<double> sizes(std::vector<std::string> const& texts) {
  auto out = cli::positive_numbers(texts, "--n");
  for (double const n : out)
    if (n != std::floor(n) || n > 0x1p52)
      throw Error(Status::usage, fmt::format("--n: {} is not a size", n), "a whole number of 1 or more");
  if (out.empty())
    throw Error(Status::usage, "no problem size", "--n 4096, or --n 4096:61440:4096 for low, high and step");
  return out;
}

std::vector<std::uint32_t> gpu_counts(std::vector<std::string> const& texts, std::size_t most) {
  auto out = cli::counts(texts, "--gpus", "GPUs", 4096);
  if (texts.empty())
    for (std::size_t g = 1; g <= most; ++g) out.push_back(static_cast<std::uint32_t>(g));
  return out;
}

std::vector<HostBuffer> host_buffers(std::vector<std::string> const& texts, Interconnect const& system, bool any) {
  std::vector<HostBuffer> out;
  std::vector<std::string> known{"nearest"};
  for (std::size_t h = 0; h < system.host_count(); ++h) known.push_back(fmt::format("host{}", h));
  for (auto const& text : texts) {
    auto const found = std::find(known.begin(), known.end(), text);
    if (found == known.end())
      throw Error(Status::usage, fmt::format("--host-buffer: {} has no '{}'", system.name(), text),
                  did_you_mean(text, known));
    auto const place = static_cast<std::size_t>(found - known.begin());
    out.push_back(place == 0 ? HostBuffer{} : HostBuffer{place - 1});
  }
  if (!out.empty()) return out;
  if (!any) return {HostBuffer{0}};
  for (std::size_t h = 0; h < system.host_count(); ++h) out.push_back({h});
  if (system.host_count() > 1) out.emplace_back();
  return out;
}

std::vector<std::size_t> map_of(std::vector<std::string> const& texts, Interconnect const& system,
                                std::uint32_t parts) {
  std::vector<std::size_t> out;
  for (auto const& text : texts) {
    auto const gpu = to_number<std::uint64_t>(text);
    if (!gpu || *gpu >= system.gpu_count())
      throw Error(Status::usage, fmt::format("--map: {} has no GPU '{}'", system.name(), text),
                  fmt::format("its GPUs are 0 to {}", system.gpu_count() - 1));
    if (std::find(out.begin(), out.end(), *gpu) != out.end())
      throw Error(Status::usage, fmt::format("--map: GPU {} is duplicated", *gpu), "each part has a GPU of its own");
    out.push_back(*gpu);
  }
  if (texts.empty()) {
    out.resize(parts);
    std::iota(out.begin(), out.end(), 0);
  }
  if (out.size() < parts)
    throw Error(Status::usage, fmt::format("--map names {} GPUs for {} parts", out.size(), parts),
                "one for each part, or lower --gpus");
  out.resize(parts);
  return out;
}

SimulationOptions simulation_options(RunOptions const& options, device::Device const& gpu) {
  SimulationOptions out;
  out.allocation = options.alloc == "seed"     ? Allocation::seed
                   : options.alloc == "rounds" ? Allocation::rounds
                                               : Allocation::maxmin;
  out.fair_copies = options.fair == "copies";
  bool const advises = options.choose || options.emit == "sensitivity";
  out.host_overhead_s =
      options.host_overhead_s.value_or(advises ? gpu.launch_delay_s.value_or(default_host_overhead_s) : 0);
  out.launch_overhead_s = options.launch_overhead_s;
  out.copy_overhead_s = options.copy_overhead_s;
  out.copy_engines = options.copy_engines;
  return out;
}

KernelParts kernel_parts(std::vector<std::string> const& texts, std::vector<std::string> const& kernels) {
  KernelParts out;
  for (auto const& text : texts) {
    auto const at = text.rfind('=');
    auto const count = at == text.npos ? std::nullopt : to_number<std::uint32_t>(text.substr(at + 1));
    if (!count || *count < 1)
      throw Error(Status::usage, fmt::format("--kernel-gpus: '{}' is not KERNEL=N, nor auto", text),
                  "for example scan=1: on one GPU");
    auto const kernel = text.substr(0, at);
    if (std::ranges::find(kernels, kernel) == kernels.end())
      throw Error(Status::usage, fmt::format("--kernel-gpus: the program has no kernel '{}'", kernel),
                  did_you_mean(kernel, kernels));
    out[kernel] = *count;
  }
  return out;
}

std::string text_of(KernelParts const& parts) {
  std::string out;
  for (auto const& [kernel, count] : parts) out += fmt::format("{}{}={}", out.empty() ? "" : ";", kernel, count);
  return out;
}

}  // namespace kernelcast::graph
