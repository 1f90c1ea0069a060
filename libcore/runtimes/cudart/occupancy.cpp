#include "runtimes/cudart/occupancy.hpp"

#include <algorithm>
#include <optional>

#include "kernels/ptx/kernel_registers.hpp"

namespace kernelcast::cudart {

namespace {

// The product of what the directive says; nothing where the kernel has none.
std::optional<std::uint64_t> directive(Kernel const& kernel, std::string_view name) {
  auto const found = kernel.function->directives.find(name);
  if (found == kernel.function->directives.end()) return {};
  std::uint64_t product = 1;
  for (auto const n : found->second)
    if (__builtin_mul_overflow(product, n, &product)) return {};
  return product;
}

// The work-items of a work-group that the kernel is compiled for.
std::optional<std::uint64_t> bound(Kernel const& kernel) {
  auto const required = directive(kernel, "reqntid");
  return required ? required : directive(kernel, "maxntid");
}

}  // namespace

// As ptxas does, not more than the kernel's directives permit: as many groups as they say have to fit.
std::uint64_t registers_of(device::Device const& device, Kernel& kernel) {
  constexpr std::uint64_t least = 8, unit = 8, warp_items = 32;
  if (kernel.registers == 0) kernel.registers = ptx::kernel_registers(*kernel.program->module, *kernel.function);
  std::uint64_t most = device.max_registers_per_item.value_or(255);
  if (auto const given = directive(kernel, "maxnreg")) most = std::min(most, *given);
  if (auto const items = bound(kernel); items && *items > 0 && *items <= max_work_items(device, kernel)) {
    auto const warps = (*items + warp_items - 1) / warp_items;
    auto const groups = std::max<std::uint64_t>(1, directive(kernel, "minnctapersm").value_or(1));
    auto const file = device.registers_per_cu.value_or(65536) / groups;
    most = std::min(most, file / (warps * warp_items) / unit * unit);
  }
  return std::clamp<std::uint64_t>(kernel.registers, least, std::max(least, most));
}

std::uint64_t max_work_items(device::Device const& device, Kernel const& kernel) {
  std::uint64_t const most = device.max_group_size.value_or(1024);
  return std::min(most, bound(kernel).value_or(most));
}

std::uint64_t groups_per_unit(device::Device const& device, Kernel& kernel, std::uint64_t block, std::uint64_t shared) {
  if (block == 0 || block > max_work_items(device, kernel)) return 0;
  device::KernelResources const needs{registers_of(device, kernel), kernel.ready->static_shared_bytes() + shared};
  return device::occupancy(device, needs, block).groups_per_cu;
}

std::uint64_t max_resident_work_items(device::Device const& device, Kernel& kernel) {
  constexpr std::uint64_t warp_items = 32;
  auto items = max_work_items(device, kernel);
  while (items > warp_items && groups_per_unit(device, kernel, items, 0) == 0)
    items = (items - 1) / warp_items * warp_items;
  return items;
}

}  // namespace kernelcast::cudart
