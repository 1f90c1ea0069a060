#include "measure/flux/counts.hpp"

#include <cmath>
#include <map>

namespace kernelcast::flux {

Executions& Counts::at(std::uint32_t function, std::uint32_t instruction, ptx::Module const& module) {
  auto& counts = functions[function];
  if (counts.empty()) counts.resize(module.functions[function].instructions.size());
  return counts[instruction];
}

void Counts::add(Counts const& other) {
  if (functions.size() < other.functions.size()) functions.resize(other.functions.size());
  for (std::size_t f = 0; f < other.functions.size(); ++f) {
    auto& to = functions[f];
    auto const& from = other.functions[f];
    if (to.size() < from.size()) to.resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      to[i].lanes += from[i].lanes;
      to[i].warps += from[i].warps;
      to[i].reached |= from[i].reached;
    }
  }
  warps_known &= other.warps_known;
}

void Counts::scale(double lanes_factor, double warps_factor) {
  auto const scaled = [](std::uint64_t count, double factor) {
    return static_cast<std::uint64_t>(std::llround(static_cast<double>(count) * factor));
  };
  for (auto& function : functions)
    for (auto& executions : function) {
      executions.lanes = scaled(executions.lanes, lanes_factor);
      executions.warps = scaled(executions.warps, warps_factor);
    }
}

std::vector<OpcodeCount> by_opcode(ptx::Module const& module, Counts const& counts) {
  std::map<std::string, OpcodeCount> sums;
  for (std::size_t f = 0; f < counts.functions.size(); ++f)
    for (std::size_t i = 0; i < counts.functions[f].size(); ++i) {
      auto const& [lanes, warps, reached] = counts.functions[f][i];
      if (!reached) continue;
      auto& sum = sums[full_opcode(module.functions[f].instructions[i])];
      sum.lanes += lanes;
      sum.warps += warps;
    }
  std::vector<OpcodeCount> rows;
  for (auto& [opcode, sum] : sums) {
    sum.opcode = opcode;
    rows.push_back(std::move(sum));
  }
  return rows;
}

}  // namespace kernelcast::flux
