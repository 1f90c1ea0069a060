// Columns of the user's own behind those of a record, the same in every row or each row's: NAME=VALUE.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "records/table/table.hpp"

namespace kernelcast::record {

// "n=64" as its two parts; without = the value is empty.
struct NamedValue {
  std::string_view name, value;
};
NamedValue named_value(std::string_view text);

struct Labels {
  std::vector<std::string> names, values;

  void add(NamedValue const& label);
  // Whether these or the record have such a column.
  template <class R>
  bool taken(std::string_view name) const {
    return is_among(name, R::schema().columns());
  }

 private:
  bool is_among(std::string_view name, std::vector<ColumnDefinition> const& columns) const;
};

}  // namespace kernelcast::record
