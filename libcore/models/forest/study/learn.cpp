#include "models/forest/study/learn.hpp"

#include "records/table/table.hpp"

namespace kernelcast::forest {

Model learn(Dataset const& set, Plan const& plan) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < set.kernels.size(); ++i) labels.push_back(set.label(i));
  Model model{set.target,      set.per,           set.device,     set.kernel_features,           set.device_features,
              set.projections, std::move(labels), set.provenance, Regressor::fit(set.data, plan)};
  auto const calibrated = calibrate(set.data, plan);
  if (calibrated.folds == 0) return model;
  model.regressor.set_margin(calibrated.margin);
  model.provenance["calibration_folds"] = std::to_string(calibrated.folds);
  model.provenance["calibration_mape_pct"] = record::number_text(calibrated.score.mape_pct);
  model.provenance["calibration_median_pct"] = record::number_text(calibrated.score.median_pct);
  return model;
}

}  // namespace kernelcast::forest
