#include "device/intervals.hpp"

#include <map>

namespace kernelcast::device {

using record::Interval, record::Limiter, record::Regime, record::ResidualModel, record::Tested;

std::array<Cell, 5> cell_chain(Cell const& cell) {
  return {{cell,
           {cell.architecture, {}, cell.regime},
           {"", cell.limiter, cell.regime},
           {"", {}, cell.regime},
           {"", {}, {}}}};
}

bool lists(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    auto const end = std::min(list.find(';'), list.size());
    if (list.substr(0, end) == name) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

record::Relation relation_of(std::string_view vendor, std::string_view architecture, std::string_view other_vendor,
                             std::string_view other_architecture) {
  using record::Relation;
  return vendor != other_vendor               ? Relation::other_vendor
         : architecture != other_architecture ? Relation::other_architecture
                                              : Relation::same_architecture;
}

Residuals::Residuals(std::vector<Interval> const& rows, std::string const& architecture,
                     record::PerValue<ResidualModel, Tested> const& tested) {
  if (rows.empty()) return;
  factors_.resize(record::count_of<ResidualModel> * limiters * record::count_of<Regime>);
  for (auto const model : record::values_of<ResidualModel>) {
    std::map<Cell, Factors> cells;
    for (auto const& row : rows)
      if (row.model == model && row.tested == tested[model])
        cells[{row.architecture, row.limiter, row.regime}] = {row.low, row.high};
    for (std::size_t i = 0; i < limiters; ++i)
      for (auto const regime : record::values_of<Regime>) {
        auto const limiter = i > 0 ? std::optional(static_cast<Limiter>(i - 1)) : std::nullopt;
        for (auto const& cell : cell_chain({architecture, limiter, regime}))
          if (auto const found = cells.find(cell); found != cells.end()) {
            factors_[place(model, limiter, regime)] = found->second;
            break;
          }
      }
  }
}

void Residuals::set_ratios(std::vector<record::Ratio> const& rows) {
  for (auto const& row : rows) ratios_[row.model][row.relation] = row.factor;
}

}  // namespace kernelcast::device
