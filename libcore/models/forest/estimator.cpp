#include "models/forest/estimator.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "base/diag/diag.hpp"

namespace kernelcast::forest {

double scaled(double target, Scale scale) {
  return scale == Scale::log ? std::log(target) : target;
}

namespace {

double unscaled(double value, Scale scale) {
  return scale == Scale::log ? std::exp(value) : value;
}

// Calls visit(member, weight) for each touched member in ascending order of the targets.
template <class Visit>
void each_touched(Scratch const& scratch, Visit visit) {
  for (std::size_t word = 0; word < scratch.touched.size(); ++word)
    for (auto bits = scratch.touched[word]; bits != 0; bits &= bits - 1) {
      auto const member = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
      visit(member, scratch.weight[member]);
    }
}

void touch(std::uint32_t member, double weight, Scratch& scratch) {
  scratch.weight[member] += weight;
  scratch.touched[member / 64] |= std::uint64_t{1} << (member % 64);
}

}  // namespace

Estimator Estimator::fit(Samples const& samples, Plan const& plan) {
  Samples in_scale = samples;
  for (double& y : in_scale.y) {
    if (!std::isfinite(y)) throw Error(Status::bad_data, "a target is not finite", "leave unknown ones empty");
    if (!(y > 0) && (plan.scale == Scale::log || plan.objective == Objective::relative))
      throw Error(Status::bad_data, fmt::format("a target is {}, not above 0", y),
                  "its logarithm and relative errors need targets above 0");
    y = scaled(y, plan.scale);
  }
  auto forest = train(in_scale, plan.forest);
  std::vector<float> low(samples.row(0).begin(), samples.row(0).end()), high = low;
  for (std::size_t i = 0; i < samples.size(); ++i)
    for (std::size_t f = 0; f < samples.features; ++f) {
      low[f] = std::min(low[f], samples.row(i)[f]);
      high[f] = std::max(high[f], samples.row(i)[f]);
    }
  std::vector<double> targets;
  for (auto const row : forest.order) targets.push_back(samples.y[row]);
  return {std::move(forest), plan, std::move(targets), std::move(low), std::move(high)};
}

Estimator::Estimator(Forest forest, Plan plan, std::vector<double> targets, std::vector<float> low,
                     std::vector<float> high)
    : forest_(std::move(forest)),
      flat_(forest_),
      plan_(plan),
      low_(std::move(low)),
      high_(std::move(high)),
      targets_(std::move(targets)) {
  plan_.forest = forest_.settings;
}

Prediction Estimator::predict(std::span<float const> x, Scratch& scratch) const {
  std::size_t const all = flat_.trees();
  return predict(x, scratch, {&all, 1}).front();
}

std::vector<Prediction> Estimator::predict(std::span<float const> x, Scratch& scratch,
                                           std::span<std::size_t const> first_trees) const {
  scratch.leaf_of_tree.resize(flat_.trees());
  flat_.find(x, scratch.leaf_of_tree);
  std::vector<Prediction> out;
  add(x, scratch.leaf_of_tree, scratch, first_trees, out);
  return out;
}

std::vector<Prediction> Estimator::predict_rows(std::span<float const> rows, Scratch& scratch) const {
  std::size_t const all = flat_.trees();
  return predict_rows(rows, scratch, {&all, 1});
}

std::vector<Prediction> Estimator::predict_rows(std::span<float const> rows, Scratch& scratch,
                                                std::span<std::size_t const> first_trees) const {
  std::vector<Prediction> out;
  out.reserve(rows.size() / low_.size() * first_trees.size());
  flat_.find_rows(rows, [&](std::size_t row, std::span<std::uint32_t const> leaf_of_tree) {
    add(rows.subspan(row * low_.size(), low_.size()), leaf_of_tree, scratch, first_trees, out);
  });
  return out;
}

void Estimator::add(std::span<float const> x, std::span<std::uint32_t const> leaf_of_tree, Scratch& scratch,
                    std::span<std::size_t const> first_trees, std::vector<Prediction>& out) const {
  for (auto const trees : first_trees) {
    out.push_back(of_first(leaf_of_tree.first(std::min(trees, flat_.trees())), scratch));
    out.back().outside = outside(x);
  }
}

std::optional<std::size_t> Estimator::outside(std::span<float const> x) const {
  for (std::size_t f = 0; f < low_.size(); ++f)
    if (x[f] < low_[f] || x[f] > high_[f]) return f;
  return std::nullopt;
}

Prediction Estimator::of_first(std::span<std::uint32_t const> leaf_of_tree, Scratch& scratch) const {
  scratch.weight.resize(targets_.size());
  scratch.touched.resize((targets_.size() + 63) / 64);
  Prediction out;
  double sum = 0;
  for (auto const leaf : leaf_of_tree) {
    if ((leaf & Flat::several) == 0) {
      sum += forest_.targets[leaf];
      touch(leaf, 1, scratch);
      continue;
    }
    auto const& l = flat_.leaves()[leaf & ~Flat::several];
    sum += l.value;
    for (std::uint32_t i = l.begin; i < l.begin + l.size; ++i) touch(flat_.members()[i], 1.0 / l.size, scratch);
  }
  auto const n = static_cast<double>(leaf_of_tree.size());
  out.value = std::clamp(unscaled(sum / n, plan_.scale), targets_.front(), targets_.back());
  interval(out, n, scratch);
  return out;
}

// Quantiles of the weighted targets [meinshausen]; clears the scratch.
void Estimator::interval(Prediction& out, double trees, Scratch& scratch) const {
  double total = 0, inverse = 0, most = 0;
  each_touched(scratch, [&](std::size_t member, double weight) {
    total += weight;
    inverse += weight / targets_[member];
    if (weight > most) {
      most = weight;
      out.nearest = forest_.order[member];
    }
  });
  out.support = most / trees;
  double const tail = (1 - plan_.interval) / 2 * total;
  double below = 0, inverse_below = 0;
  bool has_low = false, has_high = false, has_median = plan_.objective == Objective::mean;
  double low = targets_.front(), high = targets_.back();
  each_touched(scratch, [&](std::size_t member, double weight) {
    below += weight;
    inverse_below += weight / targets_[member];
    if (!has_low && below > tail) {
      has_low = true;
      low = targets_[member];
    }
    if (!has_median && inverse_below >= inverse / 2) {
      has_median = true;
      out.value = targets_[member];
    }
    if (!has_high && below >= total - tail) {
      has_high = true;
      high = targets_[member];
    }
    scratch.weight[member] = 0;
  });
  std::fill(scratch.touched.begin(), scratch.touched.end(), 0);
  auto const moved = [&](double end, double by) {
    return plan_.margin == 0 ? end : std::max(0.0, unscaled(scaled(end, plan_.scale) + by, plan_.scale));
  };
  out.low = std::min(out.value, moved(low, -plan_.margin));
  out.high = std::max(out.value, moved(high, plan_.margin));
}

}  // namespace kernelcast::forest
