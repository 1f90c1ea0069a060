// Whether a device accepts a launch at all. What the limits of a grid are for is in devdb/occupancy.csv.
#include <array>

#include <fmt/format.h>

#include "records/device/device.hpp"
#include "records/table/histogram.hpp"

namespace kernelcast::device {

namespace {

// Bytes in GB, with as many digits as tell them from each other.
std::string memory_refusal(std::uint64_t needed, std::uint64_t present) {
  auto const text = [](std::uint64_t bytes, int digits) {
    return fmt::format("{:.{}f} GB", static_cast<double>(bytes) / 1e9, digits);
  };
  int digits = 1;
  while (digits < 9 && text(needed, digits) == text(present, digits)) ++digits;
  return fmt::format("needs {}, the device has {}", text(needed, digits), text(present, digits));
}

}  // namespace

std::string no_matrix_unit(std::string_view kind) {
  return fmt::format("no matrix unit for {}", kind);
}
std::string no_matrix_rate(std::string_view kind) {
  return fmt::format("the device database lacks its rate of {}", kind);
}

bool runs_on(std::string_view target, Device const& device) {
  if (target.empty() || target == device.target || target == device.vendor) return true;
  if (!target.starts_with("sm_")) return false;
  auto const of_architecture = target.substr(0, target.size() - 1);
  if (target.back() == 'a') return of_architecture == device.target;
  if (target.back() != 'f' || of_architecture.size() != device.target.size()) return false;
  return device.target.starts_with(of_architecture.substr(0, of_architecture.size() - 1)) &&
         device.target >= of_architecture;
}

bool is_for_others(std::string_view runs_on, Device const& device) {
  bool const names_vendor =
      !runs_on.empty() && runs_on.front() >= 'A' && runs_on.front() <= 'Z';  // targets are sm_, gfx
  return names_vendor && runs_on != device.vendor;
}

std::string refusal(record::Kernel const& kernel, Device const& device, Placement& placement) {
  double const items =
      static_cast<double>(kernel.block_x) * static_cast<double>(kernel.block_y) * static_cast<double>(kernel.block_z);
  if (!runs_on(kernel.runs_on, device)) return fmt::format("the code is for {} alone", kernel.runs_on);
  if (items >= 0x1p53) return fmt::format("{:.3g} work-items in a work-group", items);
  auto const& rule = device.rule;
  auto const size = static_cast<std::uint64_t>(items);
  if (rule.max_group_size && size > *rule.max_group_size)
    return fmt::format("{} work-items in a work-group, at most {}", size, *rule.max_group_size);
  struct Axis {
    char name;
    std::uint64_t groups;
    std::optional<std::uint64_t> most;
  };
  for (auto const& [name, groups, most] :
       std::array{Axis{'x', kernel.grid_x, rule.max_grid_x}, Axis{'y', kernel.grid_y, rule.max_grid_y},
                  Axis{'z', kernel.grid_z, rule.max_grid_z}})
    if (most && groups > *most) return fmt::format("{} work-groups along {}, at most {}", groups, name, *most);
  if (kernel.warp_lanes && device.wave_width && *device.wave_width > *kernel.warp_lanes && size > *kernel.warp_lanes)
    return fmt::format("exchanges values within warps of {}, wavefronts have {}", *kernel.warp_lanes,
                       *device.wave_width);
  if (rule.shared_per_group_bytes && kernel.shared_bytes > *rule.shared_per_group_bytes)
    return fmt::format("{} bytes of shared memory for a work-group, at most {}", kernel.shared_bytes,
                       *rule.shared_per_group_bytes);
  std::string no_product;
  record::read_histogram(kernel.matrix_flop, [&](std::string_view kind, double) {
    if (device.knows_matrix && no_product.empty() && !device.matrix_rule(kind)) no_product = no_matrix_unit(kind);
    return true;
  });
  if (!no_product.empty()) return no_product;
  try {
    placement.registers = registers_for(kernel, device);
    placement.occupancy = occupancy(device, placement.registers, kernel.shared_bytes, size);
    if (placement.occupancy.groups_per_cu == 0) return placement.occupancy.misfit;
  } catch (Error const&) {
    // The rule lacks a limit: models say which.
  }
  if (kernel.allocated_bytes && device.memory_bytes &&
      static_cast<double>(*kernel.allocated_bytes) > static_cast<double>(*device.memory_bytes))
    return memory_refusal(*kernel.allocated_bytes, static_cast<std::uint64_t>(*device.memory_bytes));
  return {};
}

}  // namespace kernelcast::device
