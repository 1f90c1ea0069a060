// From a data set to a model.
#pragma once

#include "forest/model.hpp"
#include "forest/study/dataset.hpp"

namespace kernelcast::forest {

// With folds, the samples are cross-validated in so many: their scores go into the model's provenance, and its interval
// is widened to what they show it needs.
Model learn(Dataset const&, Plan const&, std::size_t calibration_folds);

}  // namespace kernelcast::forest
