// Columns of the inputs that a record does not have: a program whose rows map one to one passes them through.
#pragma once

#include <string>
#include <vector>

#include "record/table.hpp"

namespace kernelcast::record {

class PassedThrough {
 public:
  // Call once for each input, before its rows.
  void begin(RowReader const& input);
  // Of the input's current row, in the order of names() so far.
  std::vector<std::string> cells(RowReader const& input) const;
  // The same with empty cells for columns that came later.
  std::vector<std::string> whole(std::vector<std::string> cells) const;

  std::vector<std::string> const& names() const { return names_; }  // in the order of their first appearance

 private:
  std::vector<std::string> names_;
  std::vector<std::size_t> places_;  // in names_, of the current input's
};

}  // namespace kernelcast::record
