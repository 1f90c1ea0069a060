#include "cudart/occupancy.hpp"

#include <algorithm>

#include "ptx/liveness.hpp"

namespace kernelcast::cudart {

std::uint64_t registers_of(device::Device const& device, Kernel& kernel) {
  if (kernel.registers == 0) kernel.registers = ptx::registers_needed(*kernel.function).registers;
  return std::clamp<std::uint64_t>(kernel.registers, 8, device.max_registers_per_item.value_or(255));
}

std::uint64_t max_work_items(device::Device const& device, Kernel const& kernel) {
  std::uint64_t most = device.max_group_size.value_or(1024);
  auto const bound = kernel.function->directives.find("maxntid");
  if (bound != kernel.function->directives.end()) {
    std::uint64_t items = 1;
    for (auto const n : bound->second) items *= n;
    most = std::min(most, items);
  }
  return most;
}

std::uint64_t groups_per_unit(device::Device const& device, Kernel& kernel, std::uint64_t block, std::uint64_t shared) {
  if (block == 0 || block > max_work_items(device, kernel)) return 0;
  device::KernelResources const needs{registers_of(device, kernel), kernel.ready->static_shared_bytes() + shared};
  return device::occupancy(device, needs, block).groups_per_cu;
}

}  // namespace kernelcast::cudart
