#include "models/forest/importance.hpp"

#include <cmath>
#include <numeric>

#include "models/forest/random.hpp"

namespace kernelcast::forest {

namespace {

double sum_of_errors(Data const& data, std::vector<std::size_t> const& rows, Regressor const& regressor,
                     std::vector<float> const& x, Scratch& scratch) {
  double sum = 0;
  std::size_t const m = data.samples.features;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    double const value = regressor.predict({x.data() + i * m, m}, scratch).value;
    double const measured = data.measured[rows[i]];
    sum += std::fabs(measured - value * (data.work.empty() ? 1 : data.work[rows[i]])) / std::fabs(measured);
  }
  return sum;
}

}  // namespace

std::vector<double> permutation_importance(Data const& data, Folds const& folds, Plan const& plan,
                                           std::size_t repeats) {
  std::size_t const m = data.samples.features;
  std::vector<double> out(m);
  std::size_t tested = 0;
  for (std::size_t fold = 0; fold < folds.size(); ++fold) {
    std::vector<bool> is_tested(data.samples.size());
    for (auto const row : folds[fold]) is_tested[row] = true;
    std::vector<std::size_t> trained;
    for (std::size_t i = 0; i < is_tested.size(); ++i)
      if (!is_tested[i]) trained.push_back(i);
    auto const regressor = Regressor::fit(subset(data, trained), plan);
    auto const& rows = folds[fold];
    auto const x = subset(data, rows).samples.x;
    Scratch scratch;
    double const plain = sum_of_errors(data, rows, regressor, x, scratch);
    tested += rows.size();
    for (std::size_t f = 0; f < m; ++f)
      for (std::size_t r = 0; r < repeats; ++r) {
        std::vector<std::size_t> from(rows.size());
        std::iota(from.begin(), from.end(), std::size_t{0});
        Random(plan.forest.seed, 1000 + (fold * m + f) * repeats + r).shuffle(from);
        auto exchanged = x;
        for (std::size_t i = 0; i < from.size(); ++i) exchanged[i * m + f] = x[from[i] * m + f];
        out[f] += sum_of_errors(data, rows, regressor, exchanged, scratch) - plain;
      }
  }
  for (double& value : out) value *= 100.0 / static_cast<double>(tested * repeats);
  return out;
}

}  // namespace kernelcast::forest
