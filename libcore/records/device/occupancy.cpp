// How many work-groups a compute unit holds: the least of four bounds, each by the allocation rule of the architecture.
//
//   waves     max_waves / waves of a group
//   groups    max_groups
//   registers group scope: registers / ceil_to(ceil_to(waves, granularity) * width * R, unit)   [cuda-occupancy] cc 1.x
//             wave scope: parts * floor(registers / parts / ceil_to(width * R, unit)) / waves    [cuda-occupancy]
//             cc 2.0+ lane and vec4 scope: parts * floor(registers of a lane / ceil_to(R, unit)) / waves [llvm-amdgpu]
//   shared    shared memory / ceil_to(bytes + reserved, unit)
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "records/device/device.hpp"

namespace kernelcast::device {

namespace {

using record::OccupancyRule;
constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

std::uint64_t ceil_to(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

[[noreturn]] void refuse_unknown(OccupancyRule const& rule, char const* column) {
  throw Error(Status::bad_data, fmt::format("occupancy of '{}': column '{}' is not known", rule.target, column),
              "fill the column in the device database's occupancy.csv, with its source");
}

std::uint64_t need(std::optional<std::uint64_t> const& value, OccupancyRule const& rule, char const* column) {
  if (!value || *value == 0) refuse_unknown(rule, column);
  return *value;
}

// Groups that the registers allow; sets `misfit` when one group has too many.
std::uint64_t by_registers(OccupancyRule const& rule, std::uint64_t registers, std::uint64_t waves,
                           std::string& misfit) {
  if (registers == 0) return unlimited;
  if (auto const most = rule.max_registers_per_item; most && registers > *most) {
    misfit = fmt::format("{} registers per work-item, at most {}", registers, *most);
    return 0;
  }
  std::uint64_t const unit = need(rule.register_unit, rule, "register_unit");
  std::uint64_t const width = need(rule.wave_width, rule, "wave_width");
  std::uint64_t groups = 0, wanted = 0, available = 0;
  if (rule.register_scope == record::RegisterScope::group) {
    available = need(rule.registers_per_cu, rule, "registers_per_cu");
    wanted = ceil_to(ceil_to(waves, need(rule.wave_granularity, rule, "wave_granularity")) * width * registers, unit);
    groups = available / wanted;
  } else if (rule.register_scope == record::RegisterScope::wave) {
    std::uint64_t const file = need(rule.registers_per_cu, rule, "registers_per_cu");
    std::uint64_t const parts = need(rule.subpartitions, rule, "subpartitions");
    std::uint64_t const per_wave = ceil_to(width * registers, unit);
    available = rule.registers_per_group.value_or(file);
    // The launch check takes it that every part gives registers to the group's last wavefronts. On 6.0, which has two
    // parts, it is that of 6.1, which has four.
    wanted = per_wave * ceil_to(waves, need(rule.wave_granularity, rule, "wave_granularity"));
    groups = wanted > available ? 0 : parts * (file / parts / per_wave) / waves;
  } else {
    std::uint64_t const parts = need(rule.subpartitions, rule, "subpartitions");
    available = need(rule.registers_per_lane, rule, "registers_per_lane");
    wanted = ceil_to(registers, unit);
    groups = parts * (available / wanted) / waves;
    if (groups == 0)
      misfit = fmt::format("{} wavefronts of {} registers per work-item, a compute unit holds {}", waves, registers,
                           parts * (available / wanted));
  }
  if (groups == 0 && misfit.empty())
    misfit = fmt::format("{} registers for a work-group, at most {}", wanted, available);
  return groups;
}

std::uint64_t by_shared(OccupancyRule const& rule, std::uint64_t bytes, std::string& misfit) {
  std::uint64_t const reserved = rule.shared_reserved_bytes.value_or(0);
  if (bytes + reserved == 0) return unlimited;
  std::uint64_t const most = need(rule.shared_per_group_bytes, rule, "shared_per_group_bytes");
  if (bytes > most) {
    misfit = fmt::format("{} bytes of shared memory for a work-group, at most {}", bytes, most);
    return 0;
  }
  std::uint64_t const size = need(rule.shared_per_cu_bytes, rule, "shared_per_cu_bytes");
  std::uint64_t const taken = ceil_to(bytes + reserved, need(rule.shared_unit_bytes, rule, "shared_unit_bytes"));
  if (taken > size) misfit = fmt::format("{} bytes of shared memory with what is reserved, at most {}", taken, size);
  return size / taken;
}

}  // namespace

Occupancy occupancy(OccupancyRule const& rule, KernelResources const& resources, std::uint64_t group_size) {
  Occupancy out;
  std::uint64_t const size = std::max<std::uint64_t>(group_size, 1);
  std::uint64_t const max_waves = need(rule.max_waves_per_cu, rule, "max_waves_per_cu");
  std::uint64_t const largest = need(rule.max_group_size, rule, "max_group_size");
  std::uint64_t const width = need(rule.wave_width, rule, "wave_width");
  std::uint64_t const waves = (size + width - 1) / width;
  out.waves_per_group = waves;
  if (size > largest) {
    out.bound = "size";
    out.misfit = fmt::format("{} work-items in a work-group, at most {}", size, largest);
    return out;
  }
  std::string registers_misfit, shared_misfit;
  std::uint64_t const max_groups = waves == 1 && rule.max_groups_one_wave
                                       ? *rule.max_groups_one_wave
                                       : need(rule.max_groups_per_cu, rule, "max_groups_per_cu");
  std::pair<char const*, std::uint64_t> const bounds[] = {
      {"waves", max_waves / waves},
      {"groups", max_groups},
      {"registers", by_registers(rule, resources.registers, waves, registers_misfit)},
      {"shared", by_shared(rule, resources.shared_bytes, shared_misfit)}};
  std::uint64_t least = unlimited;
  for (auto const& [name, groups] : bounds) least = std::min(least, groups);
  for (auto const& [name, groups] : bounds)
    if (groups == least) {
      if (!out.bound.empty()) out.bound += '+';
      out.bound += name;
    }
  out.groups_per_cu = least;
  out.occupancy = static_cast<double>(least * waves) / static_cast<double>(max_waves);
  if (least == 0) {
    out.misfit = bounds[0].second == 0
                     ? fmt::format("{} wavefronts in a work-group, a compute unit holds {}", waves, max_waves)
                     : registers_misfit;
    if (!shared_misfit.empty()) out.misfit += (out.misfit.empty() ? "" : "; ") + shared_misfit;
  }
  return out;
}

}  // namespace kernelcast::device
