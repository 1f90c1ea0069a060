// What `rank` writes: rankings, also by cost and energy, assessments against measured times, shares and assignments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "records/projection.hpp"
#include "records/table/schema.hpp"
#include "records/vocabulary.hpp"

namespace kernelcast::record {

struct Ranking {
  std::string model, kernel, case_name;
  std::uint64_t rank = 1;
  std::string device;
  double time_s = 0;
  double relative_time = 1;
  bool decided = true;
  LimiterName limiter;
  std::optional<double> time_low_s = {}, time_high_s = {};

  static Schema<Ranking> const& schema();
};

// What an hour of a device costs: an offer of a provider, or the user's own figure. Several offers of a device are
// alternatives; one without a price is none.
struct Price {
  std::string device;
  std::uint64_t gpus_per_instance = 1;
  std::optional<double> price_per_hour;
  std::string currency, provider, region, as_of;

  static Schema<Price> const& schema();
};

// With what a run costs there, and the most energy that it takes. `cost` is that of the whole instance; empty without a
// price. `energy_j` is the stated board power over the whole time; empty where that power is not known.
struct PricedRanking : Ranking {
  std::optional<double> cost;
  std::string currency;
  std::optional<double> energy_j;
  std::optional<double> price_per_hour;
  std::optional<std::uint64_t> gpus_per_instance;
  std::string provider, region, as_of;

  static Schema<PricedRanking> const& schema();
};

// Variants of a kernel, each a case of it, on one device.
struct ConfigurationRanking {
  std::string model, kernel, device;
  std::uint64_t rank = 1;
  std::string case_name;
  double time_s = 0;
  double relative_time = 1;
  LimiterName limiter = {};
  std::optional<double> time_low_s = {}, time_high_s = {};

  static Schema<ConfigurationRanking> const& schema();
};

// What a variant loses over several devices.
struct Portability {
  std::string model, kernel;
  std::uint64_t rank = 1;
  std::string case_name;
  std::uint64_t devices = 0;
  double worst_loss_pct = 0, mean_loss_pct = 0;
  std::string worst_device;

  static Schema<Portability> const& schema();
};

// How good an order of variants is, against measured times.
struct ConfigurationScore {
  std::string model, kernel, device;
  std::uint64_t configurations = 0;
  double tau = 0;
  double loss_top1_pct = 0, loss_top5_pct = 0, loss_top10_pct = 0;

  static Schema<ConfigurationScore> const& schema();
};

// How good a model's choice was, for one kernel and case. [panwar] section V.
struct Assessment {
  std::string model, kernel, case_name;
  std::string chosen_device, best_device;
  double selection_penalty_pct = 0;
  double relative_error_pct = 0;

  static Schema<Assessment> const& schema();
};

// The means of the assessments of one model, or of a trivial ranking.
struct AssessmentSummary {
  std::string model;
  std::uint64_t cases = 0;
  double best_picked_pct = 0;
  double mean_selection_penalty_pct = 0;
  double max_selection_penalty_pct = 0;
  std::optional<double> mean_relative_error_pct;

  static Schema<AssessmentSummary> const& schema();
};

// A projected time and the measured one. `figure predicted` and `figure errors` draw these rows.
struct Comparison : Projection {
  double measured_s = 0, error_pct = 0;
  std::string suite, program, part, regime;

  static Schema<Comparison> const& schema();
};

// How right a model is on a group of measured times. Empty: the group has nothing to tell it by.
struct Score {
  std::string model, by, group;
  std::uint64_t times = 0, missing = 0;
  std::optional<double> median_error_pct, mean_error_pct, bias_pct, within_15_pct, within_30_pct, within_half_pct;
  std::optional<double> of_all_within_30_pct;
  std::uint64_t cases = 0;
  std::optional<double> tau, best_picked_pct, mean_penalty_pct, decided_pct, wrongly_decided_pct;
  std::uint64_t problems = 0;
  std::optional<double> regret_1_pct, regret_5_pct, regret_10_pct;
  std::optional<double> coverage_pct, interval_ratio;

  static Schema<Score> const& schema();
};

struct Share {
  std::string model, kernel, case_name, device;
  double share = 0;

  static Schema<Share> const& schema();
};

struct Assignment {
  std::string kernel, case_name, device;
  double start_s = 0, end_s = 0;
  std::string model, search;

  static Schema<Assignment> const& schema();
};

}  // namespace kernelcast::record
