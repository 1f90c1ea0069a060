#include "records/table/passed_through.hpp"

#include <algorithm>

namespace kernelcast::record {

void PassedThrough::begin(RowReader const& input) {
  places_.clear();
  for (auto const& name : input.extra_names()) {
    auto const at = std::find(names_.begin(), names_.end(), name);
    places_.push_back(static_cast<std::size_t>(at - names_.begin()));
    if (at == names_.end()) names_.push_back(name);
  }
}

std::vector<std::string> PassedThrough::cells(RowReader const& input) const {
  std::vector<std::string> out(places_.empty() ? 0 : names_.size());
  if (places_.empty()) return out;
  auto cells = input.extras();
  for (std::size_t i = 0; i < cells.size(); ++i) out[places_[i]] = std::move(cells[i]);
  return out;
}

std::vector<std::string> PassedThrough::whole(std::vector<std::string> cells) const {
  cells.resize(names_.size());
  return cells;
}

}  // namespace kernelcast::record
