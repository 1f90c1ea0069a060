#include "models/fit/report.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/diag/diag.hpp"

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

// The samples of the sizes that leave a choice: where only one number of GPUs has a time, nothing can be lost.
std::map<double, std::vector<Sample>> choices(Series const& series) {
  std::map<double, std::vector<Sample>> out;
  for (auto const& s : series.samples) out[s.n].push_back(s);
  for (auto at = out.begin(); at != out.end();) at = gpus_of(at->second).size() < 2 ? out.erase(at) : std::next(at);
  return out;
}

Sample const& fastest(std::vector<Sample> const& samples) {
  return *std::min_element(samples.begin(), samples.end(),
                           [](auto const& a, auto const& b) { return a.time_s < b.time_s; });
}

// What it loses to take `gpus` for the size n, whose samples these are.
record::Penalty penalty(Series const& real, std::string_view model, double n, std::vector<Sample> const& samples,
                        std::uint32_t gpus) {
  auto const& least = fastest(samples);
  auto const& its = *std::find_if(samples.begin(), samples.end(), [&](auto const& s) { return s.gpus == gpus; });
  record::Penalty row;
  row.app = real.app;
  row.gpu = real.gpu;
  row.system = real.system;
  row.model = model;
  row.n = n;
  row.gpus = gpus;
  row.best_gpus = least.gpus;
  row.time_s = its.time_s;
  row.best_time_s = least.time_s;
  row.loss_s = its.time_s - least.time_s;
  row.penalty_pct = 100 * row.loss_s / least.time_s;
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
  for (auto const& [n, samples] : choices(real)) {
    auto const chosen = best(fitted, n, gpus_of(samples));
    if (chosen) out.push_back(penalty(real, name(fitted.model), n, samples, chosen->gpus));
  }
  return out;
}

std::vector<record::Penalty> trivial_penalty_rows(Series const& real) {
  auto const sizes = choices(real);
  std::map<std::uint32_t, std::size_t> wins;
  for (auto const& [n, samples] : sizes) ++wins[fastest(samples).gpus];
  std::vector<record::Penalty> out;
  for (auto const& [n, samples] : sizes)
    out.push_back(penalty(real, "trivial:all_gpus", n, samples, gpus_of(samples).back()));
  for (auto const& [n, samples] : sizes) {
    auto const candidates = gpus_of(samples);
    auto const often = *std::max_element(candidates.begin(), candidates.end(),
                                         [&](auto const a, auto const b) { return wins[a] < wins[b]; });
    out.push_back(penalty(real, "trivial:most_often_best", n, samples, often));
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
