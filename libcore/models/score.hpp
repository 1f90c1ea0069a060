// How right models are on measured times: errors, order of devices, choice among alternatives, intervals.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/rank.hpp"
#include "records/projection.hpp"
#include "records/ranking.hpp"

namespace kernelcast::model {

struct KnownDevice {
  Peaks peaks;
  double measured_bytes_per_s = 0;
  std::string architecture;
};

struct ScoreOptions {
  std::vector<std::string> by;  // of score_groups()
  std::map<std::string, KnownDevice> devices;
  std::uint64_t seed = 0;  // of order:random
  Orders orders = {};
};

// suite, program, part, device, architecture, limiter, regime.
std::vector<std::string> const& score_groups();

// Each projected time with the measured one, by model, kernel, case and device. Repeats and totals as for score().
std::vector<record::Comparison> compare_times(std::vector<record::Projection> const& projections,
                                              std::vector<record::Measured> const& measured);

// Rows of each model: by all, by suites (the mean over the suites of each figure, so that no suite with many times
// rules) and by each of options.by. Repeated measurements of a kernel, case and device count with their median; where
// the measured kernel is `total` and the model has none of that name, all its projections of the case are added up.
// Below the models the trivial ones that need no kernel: trivial:constant (one time for everything, the geometric mean
// of what was measured: the best constant in hindsight), order:peak_flops, order:peak_bandwidth,
// order:measured_bandwidth (left out where a device lacks it), order:most_often_best and order:random.
std::vector<record::Score> score(std::vector<record::Projection> const& projections,
                                 std::vector<record::Measured> const& measured, ScoreOptions const& options);

}  // namespace kernelcast::model
