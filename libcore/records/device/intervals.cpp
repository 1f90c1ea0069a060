#include "records/device/intervals.hpp"

#include <map>

#include "base/diag/text.hpp"

namespace kernelcast::device {

using record::Interval, record::Limiter, record::Regime, record::ResidualModel, record::Tested;

std::array<Cell, 5> cell_chain(Cell const& cell) {
  return {{cell,
           {cell.architecture, {}, cell.regime},
           {"", cell.limiter, cell.regime},
           {"", {}, cell.regime},
           {"", {}, {}}}};
}

record::Relation relation_of(std::string_view vendor, std::string_view architecture, std::string_view other_vendor,
                             std::string_view other_architecture) {
  using record::Relation;
  return vendor != other_vendor               ? Relation::other_vendor
         : architecture != other_architecture ? Relation::other_architecture
                                              : Relation::same_architecture;
}

Residuals::Residuals(std::vector<Interval> const& rows, std::string const& architecture, TestedOn const& tested) {
  if (rows.empty()) return;
  std::vector<Factors> factors(record::count_of<ResidualModel> * limiters * record::count_of<Regime>);
  for (auto const model : record::values_of<ResidualModel>) {
    tested_[model] = tested[model];
    std::map<Cell, Factors> cells;
    for (auto const& row : rows)
      if (row.model == model && row.tested == tested[model])
        cells[{row.architecture, row.limiter, row.regime}] = {row.low, row.high};
    for (std::size_t i = 0; i < limiters; ++i)
      for (auto const regime : record::values_of<Regime>) {
        auto const limiter = i > 0 ? std::optional(static_cast<Limiter>(i - 1)) : std::nullopt;
        for (auto const& cell : cell_chain({architecture, limiter, regime}))
          if (auto const found = cells.find(cell); found != cells.end()) {
            factors[place(model, limiter, regime)] = found->second;
            break;
          }
      }
  }
  factors_ = std::make_shared<std::vector<Factors> const>(std::move(factors));
}

ResidualTables::ResidualTables(std::vector<Interval> rows) : rows_(std::move(rows)) {
  for (auto const& row : rows_)
    for (auto const device : listed(row.devices)) measured_[row.model].emplace(device);
}

Residuals ResidualTables::of(std::string const& device, std::map<std::string, std::string> const& architectures) {
  auto const& architecture = architectures.at(device);
  TestedOn tested;
  for (auto const model : record::values_of<ResidualModel>) {
    auto const& measured = measured_[model];
    bool const of_architecture = std::any_of(measured.begin(), measured.end(), [&](auto const& other) {
      auto const found = architectures.find(other);
      return found != architectures.end() && found->second == architecture;
    });
    tested[model] = measured.contains(device) ? Tested::device : of_architecture ? Tested::architecture : Tested::none;
  }
  auto const [at, is_new] = resolved_.try_emplace({architecture, {tested.begin(), tested.end()}});
  if (is_new) at->second = Residuals(rows_, architecture, tested);
  return at->second;
}

void Residuals::set(ResidualModel model, Factors factors) {
  auto all = factors_ ? *factors_
                      : std::vector<Factors>(record::count_of<ResidualModel> * limiters * record::count_of<Regime>);
  auto const size = limiters * record::count_of<Regime>;
  std::fill_n(all.begin() + static_cast<std::ptrdiff_t>(record::index_of(model) * size), size, factors);
  factors_ = std::make_shared<std::vector<Factors> const>(std::move(all));
}

void Residuals::set_ratios(std::vector<record::Ratio> const& rows) {
  for (auto const& row : rows) ratios_[row.model][row.relation] = row.factor;
}

}  // namespace kernelcast::device
