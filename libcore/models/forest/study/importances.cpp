#include "models/forest/study/importances.hpp"

#include <algorithm>
#include <numeric>

#include "models/forest/correlation.hpp"
#include "models/forest/importance.hpp"

namespace kernelcast::forest {

std::vector<record::Importance> importances(Dataset const& set, Plan const& plan, std::size_t permutations,
                                            std::size_t folds) {
  auto const features = set.features();
  auto const impurity = Regressor::fit(set.data, plan).importance();
  std::vector<double> permutation;
  if (permutations > 0)
    permutation = permutation_importance(set.data, random_folds(set.data.configurations, folds, plan.forest.seed), plan,
                                         permutations);
  std::vector<std::size_t> order(features.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](auto a, auto b) { return impurity[a] != impurity[b] ? impurity[a] > impurity[b] : a < b; });
  std::vector<record::Importance> out(features.size());
  for (std::size_t place = 0; place < order.size(); ++place) {
    auto const f = order[place];
    out[f] = {set.device.empty() ? "all" : set.device, set.target, features[f], impurity[f] * 100, {}, place + 1};
    if (!permutation.empty()) out[f].permutation_pct = permutation[f];
  }
  return out;
}

std::vector<record::Correlation> correlations(std::vector<record::Importance> const& importances,
                                              DeviceTable const& properties) {
  std::vector<std::pair<std::string, std::string>> features;  // target, feature in order of appearance
  for (auto const& row : importances)
    if (std::pair const key{row.target, row.feature};
        std::find(features.begin(), features.end(), key) == features.end())
      features.push_back(key);
  std::vector<record::Correlation> out;
  for (auto const& [target, feature] : features)
    for (std::size_t p = 0; p < properties.features().size(); ++p) {
      std::vector<double> importance, property;
      for (auto const& row : importances) {
        if (row.target != target || row.feature != feature) continue;
        auto const value = properties.find(row.device).values[p];
        if (!value) continue;
        importance.push_back(row.impurity_pct);
        property.push_back(*value);
      }
      out.push_back({target, feature, properties.features()[p], importance.size(), pearson(importance, property)});
    }
  return out;
}

}  // namespace kernelcast::forest
