#include "models/forest/validation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/diag/diag.hpp"
#include "base/statistics/median.hpp"

namespace kernelcast::forest {

namespace {

std::vector<std::size_t> all_but(std::size_t n, std::vector<std::size_t> const& tested) {
  std::vector<bool> is_tested(n);
  for (auto const i : tested) is_tested[i] = true;
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < n; ++i)
    if (!is_tested[i]) out.push_back(i);
  return out;
}

Prediction times(Prediction p, double work) {
  p.value *= work;
  p.low *= work;
  p.high *= work;
  return p;
}

}  // namespace

Score score(Data const& data, std::vector<HeldOut> const& predictions) {
  if (predictions.empty()) throw Error(Status::bad_data, "no sample to test", "more samples, or fewer folds");
  Score out;
  std::vector<double> errors;
  std::size_t within = 0, covered = 0;
  for (auto const& one : predictions) {
    double const measured = data.measured[one.row];
    errors.push_back(std::fabs(measured - one.prediction.value) / std::fabs(measured) * 100);
    within += errors.back() <= 10 ? 1 : 0;
    covered += one.prediction.low <= measured && measured <= one.prediction.high ? 1 : 0;
  }
  auto const n = static_cast<double>(errors.size());
  out.mape_pct = std::accumulate(errors.begin(), errors.end(), 0.0) / n;
  out.median_pct = median(errors);
  out.within_10_pct = 100 * static_cast<double>(within) / n;
  out.coverage_pct = 100 * static_cast<double>(covered) / n;
  return out;
}

std::vector<std::vector<HeldOut>> cross_validate(Data const& data, Folds const& folds, Plan const& plan,
                                                 std::vector<std::size_t> const& trees) {
  std::vector<std::vector<HeldOut>> out(trees.size());
  Plan most = plan;
  most.forest.trees = *std::max_element(trees.begin(), trees.end());
  Scratch scratch;
  for (std::size_t fold = 0; fold < folds.size(); ++fold) {
    auto const trained = all_but(data.samples.size(), folds[fold]);
    auto const training = subset(data, trained);
    auto regressor = Regressor::fit(training, most);
    if (plan.calibration_folds > 0) regressor.set_margin(calibrate(training, most).margin);
    scratch = {};
    auto const predictions = regressor.predict_rows(subset(data, folds[fold]).samples.x, scratch, trees);
    for (std::size_t i = 0; i < folds[fold].size(); ++i) {
      auto const row = folds[fold][i];
      for (std::size_t k = 0; k < trees.size(); ++k) {
        HeldOut one{row, fold, times(predictions[i * trees.size() + k], data.work.empty() ? 1 : data.work[row])};
        one.prediction.nearest = static_cast<std::uint32_t>(trained[one.prediction.nearest]);
        out[k].push_back(one);
      }
    }
  }
  return out;
}

std::vector<HeldOut> cross_validate(Data const& data, Folds const& folds, Plan const& plan) {
  return cross_validate(data, folds, plan, {plan.forest.trees}).front();
}

Choice choose(Data const& data, Folds const& folds, Plan const& plan, Search const& search) {
  Choice best;
  bool any = false;
  std::map<std::pair<std::size_t, Criterion>, bool> tried;
  auto trees = search.trees;
  std::sort(trees.begin(), trees.end());
  for (auto const criterion : search.criteria)
    for (auto const rule : search.max_features) {
      if (!tried.emplace(std::pair(features_tried(rule, data.samples.features), criterion), true).second) continue;
      Plan candidate = plan;
      candidate.calibration_folds = 0;
      candidate.forest.criterion = criterion;
      candidate.forest.max_features = rule;
      auto const predictions = cross_validate(data, folds, candidate, trees);
      for (std::size_t k = 0; k < trees.size(); ++k) {
        double const mape_pct = score(data, predictions[k]).mape_pct;
        if (any && !(mape_pct < best.mape_pct)) continue;
        any = true;
        candidate.forest.trees = trees[k];
        best = {candidate.forest, mape_pct};
      }
    }
  return best;
}

void nested_cross_validate(Data const& data, Plan const& plan, Search const& search, std::size_t iterations,
                           std::size_t outer, std::size_t inner, Divide const& divide,
                           std::function<void(Nested const&)> const& visit) {
  std::vector<std::size_t> all(data.samples.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (std::size_t iteration = 0; iteration < iterations; ++iteration) {
    Plan here = plan;
    here.forest.seed = plan.forest.seed + iteration;
    auto const folds = divide(all, outer, here.forest.seed);
    for (std::size_t fold = 0; fold < folds.size(); ++fold) {
      auto const trained = all_but(data.samples.size(), folds[fold]);
      Nested one{iteration, fold, {}, {}};
      one.choice = choose(subset(data, trained), divide(trained, inner, here.forest.seed), here, search);
      Plan chosen = here;
      chosen.forest = one.choice.settings;
      one.predictions = cross_validate(data, {folds[fold]}, chosen);
      visit(one);
    }
  }
}

double calibration(Data const& data, std::vector<HeldOut> const& predictions, Plan const& plan) {
  std::vector<double> needed;
  for (auto const& one : predictions) {
    double const work = data.work.empty() ? 1 : data.work[one.row];
    auto const at = [&](double value) { return scaled(value / work, plan.scale); };
    double const y = at(data.measured[one.row]);
    needed.push_back(std::max(at(one.prediction.low) - y, y - at(one.prediction.high)));
  }
  std::sort(needed.begin(), needed.end());
  auto const n = static_cast<double>(needed.size());
  auto const rank = static_cast<std::size_t>(std::ceil((n + 1) * plan.interval));
  return needed[std::min(needed.size(), std::max<std::size_t>(rank, 1)) - 1];
}

Calibrated calibrate(Data const& data, Plan const& plan) {
  Calibrated out;
  Groups groups(data.samples.size());  // numbered anew: some may be held out already
  std::map<std::size_t, std::size_t> numbers;
  for (std::size_t i = 0; i < groups.size(); ++i)
    groups[i] = numbers.try_emplace(data.groups.empty() ? i : data.groups[i], numbers.size()).first->second;
  std::size_t const count = numbers.size();
  if (plan.calibration_folds == 0 || count < 2) return out;
  out.folds = std::min(std::max<std::size_t>(plan.calibration_folds, 2), count);
  Plan held = plan;
  held.calibration_folds = 0;
  held.margin = 0;
  held.forest.trees = std::min(plan.forest.trees, calibration_trees);
  auto const held_out = cross_validate(data, random_folds(groups, out.folds, plan.forest.seed), held);
  out.margin = calibration(data, held_out, held);
  out.score = score(data, held_out);
  return out;
}

}  // namespace kernelcast::forest
