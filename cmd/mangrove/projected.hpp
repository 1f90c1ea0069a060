// Predictions as rows of the `projection` record.
#pragma once

#include <algorithm>
#include <string>

#include "forest/estimator.hpp"
#include "record/forest.hpp"

namespace kernelcast::mangrove {

inline constexpr auto model_name = "mangrove";

inline void fill(record::ForestProjection& row, forest::Prediction const& p, std::string const& target,
                 std::vector<std::string> const& features) {
  row.model = model_name;
  auto& value = target == "time_s" ? row.time_s : row.power_w;
  auto& low = target == "time_s" ? row.time_low_s : row.power_low_w;
  auto& high = target == "time_s" ? row.time_high_s : row.power_high_w;
  value = p.value;
  low = p.low;
  high = p.high;
  row.support = p.support;
  row.extrapolated = p.extrapolated();
  if (p.outside)
    row.reason = "feature '" + features[*p.outside] + "' is outside the training samples";
  else if (row.extrapolated)
    row.reason = "no training sample is near";
}

}  // namespace kernelcast::mangrove
