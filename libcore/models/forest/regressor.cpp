#include "models/forest/regressor.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/diag/diag.hpp"

namespace kernelcast::forest {

namespace {

// Rows by target, equal ones by features: sums over them do not depend on the order of the rows.
std::vector<std::size_t> canonical_order(Samples const& samples) {
  std::vector<std::size_t> order(samples.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (samples.y[a] != samples.y[b]) return samples.y[a] < samples.y[b];
    return std::ranges::lexicographical_compare(samples.row(a), samples.row(b));
  });
  return order;
}

// Numbered 0 and up: subsets have gaps.
struct Numbered {
  std::vector<std::size_t> of_row;
  std::size_t count = 0;
  Numbered(Groups const& groups, std::vector<std::size_t> const& order) : of_row(groups.size()) {
    std::map<std::size_t, std::size_t> numbers;
    for (auto const row : order) of_row[row] = numbers.try_emplace(groups[row], numbers.size()).first->second;
    count = numbers.size();
  }
};

double variance(std::vector<double> const& values) {
  auto const n = static_cast<double>(values.size());
  double const mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double sum = 0;
  for (double const v : values) sum += (v - mean) * (v - mean);
  return sum / n;
}

// Least squares of y = l(configuration) + e(device) by turns; with a row for every pair the first is exact.
class TwoWay {
 public:
  TwoWay(Data const& data, std::vector<std::size_t> const& order)
      : order_(&order), configurations_(data.configurations, order), devices_(data.devices, order) {
    for (double const y : data.samples.y) y_.push_back(std::log(y));
    levels_.resize(configurations_.count);
    effects_.resize(devices_.count);
    constexpr int max_turns = 1000;
    for (int turn = 0; turn < max_turns && step() > 1e-12; ++turn) {
    }
  }
  Numbered const& configurations() const { return configurations_; }
  double level(std::size_t row) const { return levels_[configurations_.of_row[row]]; }
  double ratio(std::size_t row) const { return y_[row] - level(row); }

 private:
  std::vector<double> means(Numbered const& of, Numbered const& other, std::vector<double> const& less) const {
    std::vector<double> sum(of.count), count(of.count);
    for (auto const row : *order_) {
      sum[of.of_row[row]] += y_[row] - less[other.of_row[row]];
      count[of.of_row[row]] += 1;
    }
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] /= count[i];
    return sum;
  }
  // Returns the largest change of a level.
  double step() {
    auto const levels = means(configurations_, devices_, effects_);
    double change = 0;
    for (std::size_t i = 0; i < levels.size(); ++i) change = std::max(change, std::fabs(levels[i] - levels_[i]));
    levels_ = levels;
    effects_ = means(devices_, configurations_, levels_);
    // The devices' order is that of their fastest rows, so that this sum, too, depends on the set of rows alone.
    double const mean = std::accumulate(effects_.begin(), effects_.end(), 0.0) / static_cast<double>(effects_.size());
    for (double& effect : effects_) effect -= mean;
    return change;
  }

  std::vector<std::size_t> const* order_;
  Numbered configurations_, devices_;
  std::vector<double> y_, levels_, effects_;
};

}  // namespace

Parts parts_of(Data const& data) {
  auto const order = canonical_order(data.samples);
  TwoWay const fit(data, order);
  Parts out;
  out.level.features = data.kernel_features;
  std::vector<bool> seen(fit.configurations().count);
  for (auto const row : order) {
    auto const configuration = fit.configurations().of_row[row];
    if (seen[configuration]) continue;
    seen[configuration] = true;
    auto const x = data.samples.row(row).first(data.kernel_features);
    out.level.x.insert(out.level.x.end(), x.begin(), x.end());
    out.level.y.push_back(std::exp(fit.level(row)));
  }
  for (std::size_t row = 0; row < order.size(); ++row) out.ratio.push_back(std::exp(fit.ratio(row)));
  return out;
}

Regressor Regressor::fit(Data const& data, Plan const& plan) {
  if (plan.form == TargetForm::direct) return Regressor(Estimator::fit(data.samples, plan));
  if (data.devices.empty() || data.kernel_features == 0)
    throw Error(Status::usage, "ratios of devices need one forest for several devices",
                "name features of devices with --device-feature");
  if (plan.scale != Scale::log) throw Error(Status::usage, "ratios are learnt as logarithms", "--scale log");
  for (double const y : data.samples.y)
    if (!std::isfinite(y) || !(y > 0)) return Regressor(Estimator::fit(data.samples, plan));  // says which
  auto const [least, greatest] = std::minmax_element(data.samples.y.begin(), data.samples.y.end());
  auto parts = parts_of(data);
  Plan level = plan;
  level.form = TargetForm::direct;
  level.margin = 0;
  Plan ratio = level;
  ratio.objective = Objective::mean;
  auto ratios = data.samples;
  ratios.y = std::move(parts.ratio);
  return {Estimator::fit(parts.level, level), Estimator::fit(ratios, ratio), plan.margin, *least, *greatest};
}

Regressor::Regressor(Estimator direct)
    : estimator_(std::move(direct)), min_target_(estimator_.min_target()), max_target_(estimator_.greatest_target()) {}

Regressor::Regressor(Estimator level, Estimator ratio, double margin, double least, double greatest)
    : estimator_(std::move(ratio)),
      level_(std::move(level)),
      margin_(margin),
      min_target_(least),
      max_target_(greatest) {}

Plan Regressor::plan() const {
  if (!level_) return estimator_.plan();
  Plan out = level_->plan();
  out.form = TargetForm::ratio;
  out.margin = margin_;
  return out;
}

void Regressor::set_margin(double margin) {
  if (level_)
    margin_ = margin;
  else
    estimator_.set_margin(margin);
}

Prediction Regressor::product(Prediction const& level, Prediction const& ratio) const {
  Prediction out = ratio;
  double const value = level.value * ratio.value;
  // std::hypot would need glibc 2.35, all else of the packages 2.34.
  auto const distance = [](double a, double b) { return std::sqrt(a * a + b * b); };
  double const below = distance(std::log(level.value / level.low), std::log(ratio.value / ratio.low));
  double const above = distance(std::log(level.high / level.value), std::log(ratio.high / ratio.value));
  out.value = std::clamp(value, min_target_, max_target_);
  out.low = std::min(out.value, value * std::exp(-below - margin_));
  out.high = std::max(out.value, value * std::exp(above + margin_));
  out.support = std::min(level.support, ratio.support);
  return out;
}

Prediction Regressor::predict(std::span<float const> x, Scratch& scratch) const {
  auto const out = estimator_.predict(x, scratch);
  if (!level_) return out;
  Scratch own;  // the forests have different members
  return product(level_->predict(x.first(level_->low().size()), own), out);
}

std::vector<Prediction> Regressor::predict_rows(std::span<float const> rows, Scratch& scratch) const {
  std::size_t const all = estimator_.flat().trees();
  return predict_rows(rows, scratch, {&all, 1});
}

std::vector<Prediction> Regressor::predict_rows(std::span<float const> rows, Scratch& scratch,
                                                std::span<std::size_t const> first_trees) const {
  auto out = estimator_.predict_rows(rows, scratch, first_trees);
  if (!level_) return out;
  auto const features = estimator_.low().size(), of_kernel = level_->low().size();
  std::vector<float> kernels;
  for (std::size_t begin = 0; begin < rows.size(); begin += features) {
    auto const x = rows.subspan(begin, of_kernel);
    kernels.insert(kernels.end(), x.begin(), x.end());
  }
  Scratch own;
  auto const levels = level_->predict_rows(kernels, own, first_trees);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = product(levels[i], out[i]);
  return out;
}

std::vector<double> Regressor::importance() const {
  auto out = estimator_.forest().importance;
  if (!level_) return out;
  double const of_ratio = variance(estimator_.forest().targets), of_level = variance(level_->forest().targets);
  double const all = of_ratio + of_level;
  if (!(all > 0)) return out;
  for (double& part : out) part *= of_ratio / all;
  auto const& more = level_->forest().importance;
  for (std::size_t f = 0; f < more.size(); ++f) out[f] += more[f] * of_level / all;
  return out;
}

}  // namespace kernelcast::forest
