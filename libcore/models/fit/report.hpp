// What a fitted model says: rows of records.
#pragma once

#include <string>
#include <vector>

#include "models/fit/fit.hpp"
#include "records/fit.hpp"
#include "records/simulation.hpp"

namespace kernelcast::model::fit {

// Times of one application on one kind of GPU in one system.
struct Series {
  std::string app, gpu, system;
  std::vector<Sample> samples;
};

// The numbers of GPUs that have a time, ascending.
std::vector<std::uint32_t> gpus_of(std::vector<Sample> const&);

// The terms.
std::vector<record::Fit> term_rows(Series const&, Fit const&);

// The best of `candidates` for each size. Throws Error(bad_data) where the model knows none of them.
std::vector<record::Choice> choice_rows(Series const&, Fit const&, std::vector<double> const& sizes,
                                        std::vector<std::uint32_t> const& candidates);

// What the model's choices lose, for the sizes of `real` and among the numbers of GPUs that have a real time there;
// sizes with one such number are no choice and left out.
std::vector<record::Penalty> penalty_rows(Series const& real, Fit const&);

// What choices without a model lose: trivial:all_gpus takes the largest number of GPUs that has a time of that size,
// trivial:most_often_best the number that is fastest for most sizes of `real` itself.
std::vector<record::Penalty> trivial_penalty_rows(Series const& real);

// The model against each time it knows.
std::vector<record::Residual> residual_rows(Series const& real, Fit const&);

}  // namespace kernelcast::model::fit
