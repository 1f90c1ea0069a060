// From a data set to a model.
#pragma once

#include "models/forest/model.hpp"
#include "models/forest/study/dataset.hpp"

namespace kernelcast::forest {

// Where the plan says so, samples are held out in turn: the scores go into the model's provenance, and its interval is
// widened to what they show it needs.
Model learn(Dataset const&, Plan const&);

}  // namespace kernelcast::forest
