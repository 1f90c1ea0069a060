// Predictions of forests, as rows of records.
#pragma once

#include <string>
#include <vector>

#include "models/forest/study/scheme.hpp"
#include "records/forest.hpp"

namespace kernelcast::forest {

inline constexpr auto model_name = "mangrove";

// Value, interval and warnings. `features`: the names of the prediction's features.
void fill(record::ForestProjection& row, Prediction const&, std::string const& target,
          std::vector<std::string> const& features);

// Scores of a round: one row, or one for each fold where the round is nested or `by_fold` is set.
std::vector<record::Validation> score_rows(Dataset const&, Scheme const&, Round const&, bool by_fold);
std::vector<record::HeldOut> held_out_rows(Dataset const&, Scheme const&, Round const&);

}  // namespace kernelcast::forest
