#include "forest/study/learn.hpp"

#include "record/table.hpp"

namespace kernelcast::forest {

namespace {

void calibrate(Model& model, Dataset const& set, Plan const& plan, std::size_t count) {
  auto const held_out = cross_validate(set.data, random_folds(set.configurations, count, plan.forest.seed), plan);
  model.estimator.widen(calibration(set.data, held_out, plan));
  auto const score = forest::score(set.data, held_out);
  model.provenance["folds"] = std::to_string(count);
  model.provenance["mape_pct"] = record::number_text(score.mape_pct);
  model.provenance["median_pct"] = record::number_text(score.median_pct);
}

}  // namespace

Model learn(Dataset const& set, Plan const& plan, std::size_t calibration_folds) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < set.kernels.size(); ++i) labels.push_back(set.label(i));
  Model model{set.target,
              set.per,
              set.device,
              set.kernel_features,
              set.device_features,
              set.projections,
              std::move(labels),
              set.provenance,
              Estimator::fit(set.data.samples, plan)};
  if (calibration_folds > 0) calibrate(model, set, plan, calibration_folds);
  return model;
}

}  // namespace kernelcast::forest
