#include "models/forest/study/rows.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "models/forest/names.hpp"

namespace kernelcast::forest {

namespace {

std::vector<std::vector<HeldOut>> by_fold(std::vector<HeldOut> const& held_out) {
  std::map<std::size_t, std::vector<HeldOut>> out;
  for (auto const& one : held_out) out[one.fold].push_back(one);
  std::vector<std::vector<HeldOut>> folds;
  for (auto& [fold, rows] : out) folds.push_back(std::move(rows));
  return folds;
}

record::Validation score_row(Dataset const& set, Scheme const& scheme, Round const& round,
                             std::vector<HeldOut> const& held_out) {
  auto const score = forest::score(set.data, held_out);
  record::Validation row;
  row.device = set.device.empty() ? "all" : set.device;
  row.target = set.target;
  row.scheme = scheme.name();
  row.iteration = round.iteration;
  row.samples = held_out.size();
  row.trees = round.choice.settings.trees;
  row.max_features = word(max_features_words, round.choice.settings.max_features);
  row.criterion = word(criterion_words, round.choice.settings.criterion);
  row.mape_pct = score.mape_pct;
  row.median_pct = score.median_pct;
  row.within_10_pct = score.within_10_pct;
  row.coverage_pct = score.coverage_pct;
  row.extrapolated = static_cast<std::uint64_t>(
      std::count_if(held_out.begin(), held_out.end(), [](auto const& one) { return one.prediction.extrapolated(); }));
  if (scheme.kind == Scheme::Kind::nested) row.chosen_mape_pct = round.choice.mape_pct;
  return row;
}

}  // namespace

void fill(record::ForestProjection& row, Prediction const& p, std::string const& target,
          std::vector<std::string> const& features) {
  bool const time = target == "time_s";
  row.model = model_name;
  (time ? row.time_s : row.power_w) = p.value;
  (time ? row.time_low_s : row.power_low_w) = p.low;
  (time ? row.time_high_s : row.power_high_w) = p.high;
  row.support = p.support;
  row.extrapolated = p.extrapolated();
  if (p.outside)
    row.reason = "feature '" + features[*p.outside] + "' is outside the training samples";
  else if (row.extrapolated)
    row.reason = "no training sample is near";
}

std::vector<record::Validation> score_rows(Dataset const& set, Scheme const& scheme, Round const& round, bool folds) {
  if (!folds && scheme.kind != Scheme::Kind::nested) return {score_row(set, scheme, round, round.held_out)};
  std::vector<record::Validation> out;
  for (auto const& fold : by_fold(round.held_out)) {
    out.push_back(score_row(set, scheme, round, fold));
    out.back().fold = fold.front().fold;
  }
  return out;
}

std::vector<record::HeldOut> held_out_rows(Dataset const& set, Scheme const& scheme, Round const& round) {
  std::vector<record::HeldOut> out;
  auto const features = set.features();
  for (auto const& one : round.held_out) {
    auto& row = out.emplace_back();
    row.kernel = set.kernels[one.row];
    row.case_name = set.cases[one.row];
    row.device = set.devices[one.row];
    fill(row, one.prediction, set.target, features);
    row.nearest = set.label(one.prediction.nearest);
    double const measured = set.data.measured[one.row];
    (set.target == "time_s" ? row.measured_s : row.measured_w) = measured;
    row.error_pct = std::abs(measured - one.prediction.value) / measured * 100;
    row.scheme = scheme.name();
    row.iteration = round.iteration;
    row.fold = one.fold;
  }
  return out;
}

}  // namespace kernelcast::forest
