#include "runtimes/cudart/occupancy.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/cache/cache.hpp"
#include "base/diag/diag.hpp"
#include "kernels/frontend/frontend.hpp"
#include "kernels/ptx/kernel_registers.hpp"
#include "kernels/ptx/regions.hpp"
#include "runtimes/cudart/devices.hpp"

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

// What a kernel that starts teams reaches by address decides its registers, libgomp's functions among it, and live
// ranges are far from what ptxas makes of those (35 of 74). libgomp makes its teams by this number.
std::uint64_t registers_of_teams(device::Device const& device, Kernel const& kernel) {
  auto& known = kernel.program->registers_of_teams;
  if (known) return *known;
  known = 0;
  try {
    auto const target = frontend::register_target(fmt::format("sm_{}", capability(device)));
    frontend::Request request;
    request.path = keep_source(kernel.program->module->text, ".ptx");
    request.registers = {target};
    if (request.path.empty()) return 0;
    for (auto const& info : frontend::compile_text(request).kernels) {
      auto const figures = info.registers.ptxas.find(target);
      if (info.name == kernel.function->name && figures != info.registers.ptxas.end())
        known = figures->second.registers;
    }
  } catch (Error const&) {
    // The estimate remains.
  }
  return *known;
}

}  // namespace

// As ptxas does, not more than the kernel's directives permit: as many groups as they say have to fit.
std::uint64_t registers_of(device::Device const& device, Kernel& kernel) {
  constexpr std::uint64_t least = 8, unit = 8, warp_items = 32;
  if (kernel.registers == 0 && ptx::starts_teams(*kernel.function))
    kernel.registers = registers_of_teams(device, kernel);
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
