#include "model/fit/report.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "diag/diag.hpp"

namespace kernelcast::model::fit {

namespace {

template <class R>
R labelled(Series const& group, Fit const& fitted) {
  R row;
  row.app = group.app;
  row.gpu = group.gpu;
  row.system = group.system;
  row.model = name(fitted.model);
  return row;
}

}  // namespace

std::vector<record::Fit> term_rows(Series const& group, Fit const& fitted) {
  std::vector<record::Fit> out;
  for (auto const& part : fitted.parts)
    for (auto const& term : part.terms) {
      auto row = labelled<record::Fit>(group, fitted);
      row.term = term.name;
      row.coefficient = term.coefficient;
      row.mape_pct = fitted.mape_pct;
      if (part.gpus > 0) row.gpus = part.gpus;
      row.alpha = fitted.alpha;
      row.kkt_violation = fitted.kkt_violation;
      out.push_back(std::move(row));
    }
  return out;
}

std::vector<std::uint32_t> gpus_of(std::vector<Sample> const& samples) {
  std::set<std::uint32_t> seen;
  for (auto const& s : samples) seen.insert(s.gpus);
  return {seen.begin(), seen.end()};
}

std::vector<record::Choice> choice_rows(Series const& group, Fit const& fitted, std::vector<double> const& sizes,
                                        std::vector<std::uint32_t> const& candidates) {
  std::vector<record::Choice> out;
  for (double const n : sizes) {
    auto const chosen = best(fitted, n, candidates);
    if (!chosen)
      throw Error(Status::bad_data,
                  fmt::format("the model knows no time of size {} on any of these numbers of GPUs", n),
                  "nnls knows the numbers that it was fitted on; wls knows all");
    auto row = labelled<record::Choice>(group, fitted);
    row.n = n;
    row.gpus = chosen->gpus;
    row.time_s = chosen->time_s;
    if (chosen->runner_up) {
      row.runner_up_gpus = *chosen->runner_up;
      row.margin_pct = 100 * (chosen->runner_up_s / chosen->time_s - 1);
    }
    out.push_back(std::move(row));
  }
  return out;
}

std::vector<record::Penalty> penalty_rows(Series const& real, Fit const& fitted) {
  std::vector<record::Penalty> out;
  std::map<double, std::vector<Sample>> by_size;
  for (auto const& s : real.samples) by_size[s.n].push_back(s);
  for (auto const& [n, samples] : by_size) {
    auto const chosen = best(fitted, n, gpus_of(samples));
    if (!chosen) continue;
    auto const faster = [](auto const& a, auto const& b) { return a.time_s < b.time_s; };
    auto const least = *std::min_element(samples.begin(), samples.end(), faster);
    auto const its =
        *std::find_if(samples.begin(), samples.end(), [&](auto const& s) { return s.gpus == chosen->gpus; });
    auto row = labelled<record::Penalty>(real, fitted);
    row.n = n;
    row.gpus = chosen->gpus;
    row.best_gpus = least.gpus;
    row.time_s = its.time_s;
    row.best_time_s = least.time_s;
    row.loss_s = its.time_s - least.time_s;
    row.penalty_pct = 100 * row.loss_s / least.time_s;
    out.push_back(std::move(row));
  }
  return out;
}

std::vector<record::Residual> residual_rows(Series const& real, Fit const& fitted) {
  std::vector<record::Residual> out;
  for (auto const& s : real.samples) {
    auto const time_s = fitted.time_s(s.n, s.gpus);
    if (!time_s) continue;
    auto row = labelled<record::Residual>(real, fitted);
    row.n = s.n;
    row.gpus = s.gpus;
    row.time_s = s.time_s;
    row.fitted_s = *time_s;
    row.error_s = *time_s - s.time_s;
    row.error_pct = 100 * row.error_s / s.time_s;
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace kernelcast::model::fit
