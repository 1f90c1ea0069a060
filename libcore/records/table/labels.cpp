#include "records/table/labels.hpp"

#include <algorithm>

namespace kernelcast::record {

NamedValue named_value(std::string_view text) {
  auto const equals = text.find('=');
  if (equals == std::string_view::npos) return {text, {}};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void Labels::add(NamedValue const& label) {
  names.emplace_back(label.name);
  values.emplace_back(label.value);
}

bool Labels::is_among(std::string_view name, std::vector<ColumnDefinition> const& columns) const {
  return std::ranges::find(names, name) != names.end() ||
         std::ranges::any_of(columns, [&](auto const& column) { return column.name == name; });
}

}  // namespace kernelcast::record
