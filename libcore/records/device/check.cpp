#include "records/device/check.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kernelcast::device {

namespace {

void prefer(std::optional<std::uint64_t>& limit, std::optional<std::uint64_t> const& own) {
  if (own) limit = own;
}

// The architecture's limits with the device's own in their place.
record::OccupancyRule rule_of(Device const& device, record::OccupancyRule rule) {
  prefer(rule.wave_width, device.wave_width);
  prefer(rule.max_waves_per_cu, device.max_waves_per_cu);
  prefer(rule.max_threads_per_cu, device.max_threads_per_cu);
  prefer(rule.max_groups_per_cu, device.max_groups_per_cu);
  prefer(rule.max_group_size, device.max_group_size);
  prefer(rule.registers_per_cu, device.registers_per_cu);
  prefer(rule.max_registers_per_item, device.max_registers_per_item);
  prefer(rule.shared_per_cu_bytes, device.shared_per_cu_bytes);
  prefer(rule.shared_per_group_bytes, device.shared_per_group_bytes);
  return rule;
}

bool is_zero(record::ColumnDefinition const& column, record::Device const& device) {
  void const* const field = reinterpret_cast<char const*>(&device) + column.offset;
  switch (column.type) {
    case record::FieldType::optional_number:
      return *static_cast<std::optional<double> const*>(field) == 0.0;
    case record::FieldType::optional_integer:
      return *static_cast<std::optional<std::uint64_t> const*>(field) == std::uint64_t{0};
    case record::FieldType::text:
    case record::FieldType::number:
    case record::FieldType::integer:
    case record::FieldType::boolean:
    case record::FieldType::enumeration:
      break;
  }
  return false;
}

// A device may lack a kind of arithmetic or a cache; of anything else it has some, or it is not known how much.
bool may_be_zero(std::string const& column) {
  for (char const* const start : {"throughput_", "l1_", "l2_", "l3_"})
    if (column.starts_with(start)) return column != "throughput_issue" && column != "throughput_sync";
  return false;
}

}  // namespace

void check_figures(record::Device const& row, record::RowReader const& reader) {
  auto const one_of = [&](char const* column, std::string const& value, std::vector<std::string> const& known) {
    if (std::find(known.begin(), known.end(), value) == known.end())
      throw reader.error(column, fmt::format("'{}' is none of {}", value, fmt::join(known, ", ")),
                         "see devdb/README.md for what they mean");
  };
  one_of("kind", row.kind, {"gpu", "cpu"});
  for (auto const& column : record::Device::schema().columns())
    if (!may_be_zero(column.name) && is_zero(column, row))
      throw reader.error(column.name, "must be above 0", "a figure that is not known is an empty cell");
}

void check_complete(record::Device const&, record::RowReader const& reader) {
  auto const& columns = record::Device::schema().columns();
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (columns[c].required && !columns[c].may_be_empty && reader.cell(c).empty())
      throw reader.error(columns[c].name, "empty, but a device that is like no other one needs it",
                         "name a device in a column 'like', which all that is empty is taken from");
}

void set_rule(Device& device, std::vector<record::OccupancyRule> const& rules, record::RowReader const& reader) {
  if (device.occupancy_target.empty()) return;
  auto const rule = std::ranges::find(rules, device.occupancy_target, &record::OccupancyRule::target);
  if (rule == rules.end()) {
    std::vector<std::string> targets;
    for (auto const& known : rules) targets.push_back(known.target);
    throw reader.error("occupancy_target", fmt::format("no row '{}' in occupancy.csv", device.occupancy_target),
                       did_you_mean(device.occupancy_target, targets));
  }
  device.rule = rule_of(device, *rule);
}

}  // namespace kernelcast::device
