// Which of a kernel's register counts is a device's, and what is spilled.
//
// The counts were made for other devices: where there are more than this device has for a work-item its compiler would
// spill, and where there are too many for a single work-group, too, unless they are ptxas's for this device or
// far too many of one like it: then the launch fails. What spilling costs is not modelled.
#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "records/device/device.hpp"
#include "records/table/histogram.hpp"

namespace kernelcast::device {

namespace {

// What ptxas assigns for one target, over what it assigns for another with as many registers for a work-item, at most:
// three kernels of tunehub's convolution have 72 to 80 registers for sm_75 and ran in groups of 896 and 1024 elsewhere.
constexpr double other_target = 1.5;

struct Column {
  std::string_view name;
  std::optional<std::uint64_t> count;
  bool exact = false;  // its own compiler's
};

std::uint64_t number_of(std::string_view target) {
  auto const digits = target.substr(std::min(target.size(), std::string_view("sm_").size()));
  std::uint64_t out = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), out);
  return out;
}

// ptxas's count for the latest target that is no later than the device's own, else for the earliest: PTX that does not
// run on the device has none for it. sm_87 and sm_89 get what sm_86 does.
Column assembled(record::RegisterCounts const& kernel, std::string_view target) {
  Column out{"registers_sm75", kernel.registers_sm75, target == "sm_75"};
  auto const own = number_of(target);
  std::uint64_t taken = 0;
  record::read_histogram(kernel.registers, [&](std::string_view key, double count) {
    auto const number = number_of(key);
    bool const better = taken == 0 || (number <= own ? taken > own || number > taken : taken > own && number < taken);
    if (better)
      taken = number, out = {"registers", static_cast<std::uint64_t>(count),
                             number == own || (number == 86 && (own == 87 || own == 89))};
    return true;
  });
  return out;
}

Column own_column(record::RegisterCounts const& kernel, Device const& device) {
  auto const is = [&](char const* prefix) { return device.target.starts_with(prefix); };
  if (!kernel.target.empty() && kernel.target == device.target && kernel.registers_target)
    return {"registers_target", kernel.registers_target, true};
  if (device.vendor == "NVIDIA") return assembled(kernel, device.target);
  if (device.vendor != "AMD") return {"registers_ptx", kernel.registers_ptx};
  if (device.rule.register_scope == record::RegisterScope::vec4) return {"gprs_cypress", kernel.gprs_cypress};
  if (is("gfx10") || is("gfx11") || is("gfx12")) return {"vgprs_gfx1030", kernel.vgprs_gfx1030};
  if (is("gfx9")) return {"vgprs_gfx90a", kernel.vgprs_gfx90a};
  return {"vgprs_gfx6", kernel.vgprs_gfx6};
}

}  // namespace

KernelRegisters registers_for(record::RegisterCounts const& kernel, Device const& device) {
  KernelRegisters out;
  auto column = own_column(kernel, device);
  if (!column.count && kernel.registers_ptx) {
    std::uint64_t const per_register = device.rule.register_scope == record::RegisterScope::vec4 ? 4 : 1;
    out.notes.push_back(std::string(column.name) + " not known, registers_ptx taken");
    column = {"registers_ptx", (*kernel.registers_ptx + per_register - 1) / per_register};
  }
  if (!column.count) {
    out.notes.push_back(fmt::format("{} not known, occupancy without registers", column.name));
    return out;
  }
  if (auto const most = device.rule.max_registers_per_item; most && *column.count > *most) {
    out.notes.push_back(fmt::format("{} registers, {} and the rest spilled", *column.count, *most));
    column.count = most;
  }
  out.count = column.count;
  out.source = column.name;
  // ptxas does not know the group's size, unless the kernel states it: the launch fails.
  if (column.exact)
    out.spillable = 1;
  else if (device.vendor == "NVIDIA" && out.source != "registers_ptx" &&
           device.rule.max_registers_per_item.value_or(0) == 255)
    out.spillable = other_target;
  return out;
}

Occupancy occupancy(Device const& device, KernelRegisters& registers, std::uint64_t shared_bytes,
                    std::uint64_t group_size) {
  auto const with = [&](std::uint64_t count) { return occupancy(device.rule, {count, shared_bytes}, group_size); };
  std::uint64_t const wanted = registers.count.value_or(0);
  Occupancy out = with(wanted);
  if (out.groups_per_cu > 0 || wanted <= 1 || with(0).groups_per_cu == 0) return out;
  std::uint64_t count = wanted;
  auto const least = static_cast<std::uint64_t>(
      std::ceil(registers.spillable > 0 ? static_cast<double>(wanted) / registers.spillable : 1));
  Occupancy misfit = out;
  while (count > std::max<std::uint64_t>(least, 1) && out.groups_per_cu == 0) out = with(--count);
  if (out.groups_per_cu == 0) return misfit;
  registers.notes.push_back(
      fmt::format("{} registers, {} and the rest spilled so that a work-group fits", wanted, count));
  registers.count = count;
  return out;
}

}  // namespace kernelcast::device
