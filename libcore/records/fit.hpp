// What `partfit` writes besides choices: fitted models, and how good they are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "records/table/schema.hpp"

namespace kernelcast::record {

// One term of a fitted model.
struct Fit {
  std::string app, gpu, system, model, term;
  double coefficient = 0;
  double mape_pct = 0;
  std::optional<std::uint64_t> gpus;  // that the term is for; empty: all
  std::optional<double> alpha, kkt_violation;

  static Schema<Fit> const& schema();
};

// What a model's choice loses against the best that was measured.
struct Penalty {
  std::string app, gpu, system, model;
  double n = 0;
  std::uint64_t gpus = 1, best_gpus = 1;
  double time_s = 0, best_time_s = 0, loss_s = 0, penalty_pct = 0;

  static Schema<Penalty> const& schema();
};

// How far a model is off at one point.
struct Residual {
  std::string app, gpu, system, model;
  double n = 0;
  std::uint64_t gpus = 1;
  double time_s = 0, fitted_s = 0, error_s = 0, error_pct = 0;

  static Schema<Residual> const& schema();
};

}  // namespace kernelcast::record
