// Records of `mangrove`: projections of a forest, what was held out to test it, scores, importances. [braun] chapter 5.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "records/projection.hpp"
#include "records/table/schema.hpp"
#include "records/vocabulary.hpp"

namespace kernelcast::record {

// The `projection` record as a forest fills it. A forest of times has times, a forest of power power.
struct ForestProjection {
  std::string kernel;
  std::string case_name;  // column `case`
  std::string device;
  std::string model;
  std::optional<double> time_s, time_low_s, time_high_s;
  LimiterName limiter;
  RowStatus status = RowStatus::ok;
  std::string reason;

  std::optional<double> power_w, power_low_w, power_high_w;
  std::optional<double> support;
  bool extrapolated = false;
  std::string nearest;

  static Schema<ForestProjection> const& schema();
};

// A projection made without its own measurement, which stands beside. `rank --measured` reads these rows too.
struct HeldOut : ForestProjection {
  std::optional<double> measured_s, measured_w;
  double error_pct = 0;
  std::string scheme;
  std::uint64_t iteration = 0, fold = 0;

  static Schema<HeldOut> const& schema();
};

struct Validation {
  std::string device, target, scheme;
  std::uint64_t iteration = 0;
  std::optional<std::uint64_t> fold;
  std::uint64_t samples = 0, trees = 0;
  std::string max_features, criterion;
  double mape_pct = 0, median_pct = 0, within_10_pct = 0, coverage_pct = 0;
  std::uint64_t extrapolated = 0;
  std::optional<double> chosen_mape_pct;

  static Schema<Validation> const& schema();
};

struct Importance {
  std::string device, target, feature;
  double impurity_pct = 0;
  std::optional<double> permutation_pct;
  std::optional<std::uint64_t> rank;

  static Schema<Importance> const& schema();
};

struct Correlation {
  std::string target, feature, property;
  std::uint64_t devices = 0;
  std::optional<double> correlation;

  static Schema<Correlation> const& schema();
};

}  // namespace kernelcast::record
