// How well a plan predicts what it has not seen. [braun] section 5.4.4.
//
// Method: cross-validation and nested cross-validation [varma]. A forest is grown once with the largest number of
// trees requested; its first trees are the smaller forests, so that all numbers of trees cost one fit.
#pragma once

#include <functional>
#include <vector>

#include "models/forest/data.hpp"
#include "models/forest/regressor.hpp"

namespace kernelcast::forest {

struct HeldOut {
  std::size_t row = 0, fold = 0;
  Prediction prediction;  // `nearest` is a row of the data
};

// [braun] eq. (5.1), and what it does not show. Percent.
struct Score {
  double mape_pct = 0, median_pct = 0;
  double within_10_pct = 0;  // share of predictions off by at most a tenth
  double coverage_pct = 0;   // share of targets inside the interval
};
Score score(Data const&, std::vector<HeldOut> const&);

// Predictions of every tested row, fold by fold; each fold's interval is calibrated on what it was trained with where
// the plan says so.
std::vector<HeldOut> cross_validate(Data const&, Folds const&, Plan const&);
// The same for several numbers of trees: [number of trees][prediction]. plan.forest.trees is ignored.
std::vector<std::vector<HeldOut>> cross_validate(Data const&, Folds const&, Plan const&,
                                                 std::vector<std::size_t> const& trees);

// Hyper-parameters to choose from: [braun]'s three.
struct Search {
  std::vector<std::size_t> trees{128, 256, 512, 1024};
  std::vector<MaxFeatures> max_features{MaxFeatures::all, MaxFeatures::log2, MaxFeatures::sqrt};
  std::vector<Criterion> criteria{Criterion::mse, Criterion::mae};
};

struct Choice {
  Settings settings;
  double mape_pct = 0;  // in the cross-validation that chose
};
// The settings with the least MAPE, without calibration; of equal ones the fewest trees. Settings that come to the same
// are tried once.
Choice choose(Data const&, Folds const&, Plan const&, Search const&);

struct Nested {
  std::size_t iteration = 0, fold = 0;
  Choice choice;
  std::vector<HeldOut> predictions;
};
// Divides rows (all: the whole data, or an outer training set) into folds, for one seed.
using Divide = std::function<Folds(std::vector<std::size_t> const& rows, std::size_t count, std::uint64_t seed)>;
// Calls visit for each outer fold of each iteration.
void nested_cross_validate(Data const&, Plan const&, Search const&, std::size_t iterations, std::size_t outer,
                           std::size_t inner, Divide const&, std::function<void(Nested const&)> const& visit);

// By how much intervals must be widened at each end, in the trees' scale, so that they hold their share of these
// targets [conformal]; below 0 where they hold more.
double calibration(Data const&, std::vector<HeldOut> const&, Plan const&);

// The same, and the scores, from samples that are held out in turn as the plan says. Its forests have at most
// calibration_trees trees. Nothing without a calibration in the plan or with fewer than two groups.
struct Calibrated {
  double margin = 0;
  std::size_t folds = 0;  // 0: not calibrated
  Score score;
};
inline constexpr std::size_t calibration_trees = 64;
Calibrated calibrate(Data const&, Plan const&);

}  // namespace kernelcast::forest
