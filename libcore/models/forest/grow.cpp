// Growing one extremely randomised tree. [geurts] table 1, with the details of scikit-learn's ExtraTreesRegressor:
// features are drawn without replacement until `max_features` were tried and one of them differs within the node;
// of equal gains the first counts.
//
// The samples of a node stay in ascending order of their targets (the partition is stable), so that the median of
// either side of a cut, which the absolute error needs, is found in one pass without sorting.
#include "models/forest/grow.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

namespace kernelcast::forest {

namespace {

constexpr float min_spread = 1e-7F;  // a feature whose values differ by less is constant within a node

struct Cut {
  std::size_t feature = 0;
  float threshold = 0;
  double gain = 0;
  bool found = false;
};

class Grower {
 public:
  Grower(Columns const& data, Settings const& settings, Random random, std::vector<double>& importance)
      : data_(&data),
        settings_(settings),
        random_(random),
        tried_(features_tried(settings.max_features, data.features)),
        gains_(data.features),
        importance_(&importance) {
    auto const n = data.y.size();
    ids_.resize(n);
    std::iota(ids_.begin(), ids_.end(), 0U);
    y_ = data.y;
    values_.resize(n);
    spare_ids_.resize(n);
    spare_y_.resize(n);
    features_.resize(data.features);
    std::iota(features_.begin(), features_.end(), std::size_t{0});
  }

  Tree grow() {
    struct Range {
      std::size_t begin, end;
    };
    std::vector<Range> open{{0, ids_.size()}};
    while (!open.empty()) {
      auto const [begin, end] = open.back();
      open.pop_back();
      auto const cut = best_cut(begin, end);
      if (!cut.found) {
        tree_.split.push_back(Tree::leaf);
        tree_.leaf_size.push_back(static_cast<std::uint32_t>(end - begin));
        continue;
      }
      tree_.split.push_back(static_cast<std::uint8_t>(cut.feature));
      tree_.threshold.push_back(cut.threshold);
      gains_[cut.feature] += cut.gain;
      auto const middle = partition(begin, end, cut);
      open.push_back({middle, end});
      open.push_back({begin, middle});
    }
    tree_.members = std::move(ids_);
    double const all = std::accumulate(gains_.begin(), gains_.end(), 0.0);
    if (all > 0)
      for (std::size_t f = 0; f < gains_.size(); ++f) (*importance_)[f] += gains_[f] / all;
    return std::move(tree_);
  }

 private:
  // Copies the feature's values of the node, and finds their range.
  std::pair<float, float> gather(std::size_t feature, std::size_t begin, std::size_t end) {
    float const* const column = data_->x.data() + feature * data_->y.size();
    float low = column[ids_[begin]], high = low;
    for (std::size_t i = begin; i < end; ++i) {
      float const v = column[ids_[i]];
      values_[i - begin] = v;
      low = v < low ? v : low;
      high = v > high ? v : high;
    }
    return {low, high};
  }

  float threshold_between(float low, float high) {
    double const u = random_.uniform();
    double cut = 0;
    if (settings_.cuts == Cuts::uniform)
      cut = low + u * (static_cast<double>(high) - low);
    else
      cut = std::sinh(std::asinh(low) + u * (std::asinh(static_cast<double>(high)) - std::asinh(low)));
    auto const out = static_cast<float>(cut);
    return out >= high || out < low ? low : out;
  }

  // Sum of squares explained by the two sides' means, above that of the node's.
  double squared_gain(std::size_t begin, std::size_t n, float threshold, double sum) const {
    std::array<double, 4> left{};
    std::array<std::size_t, 4> count{};
    double const* const y = y_.data() + begin;
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4)
      for (std::size_t k = 0; k < 4; ++k) {
        bool const goes_left = values_[i + k] <= threshold;
        left[k] += goes_left ? y[i + k] : 0.0;
        count[k] += goes_left ? 1 : 0;
      }
    for (; i < n; ++i)
      if (values_[i] <= threshold) {
        left[0] += y[i];
        ++count[0];
      }
    double const sum_left = (left[0] + left[1]) + (left[2] + left[3]);
    auto const n_left = static_cast<double>(count[0] + count[1] + count[2] + count[3]);
    double const n_right = static_cast<double>(n) - n_left;
    double const sum_right = sum - sum_left;
    return sum_left * sum_left / n_left + sum_right * sum_right / n_right - sum * sum / static_cast<double>(n);
  }

  // Sum of distances to the median of n ascending values, given one by one.
  struct Distances {
    std::size_t lower, upper;  // how many count negative; from which on positive
    std::size_t seen = 0;
    double sum = 0;
    explicit Distances(std::size_t n) : lower(n / 2), upper(n - n / 2) {}
    void add(double y) {
      sum += seen < lower ? -y : seen >= upper ? y : 0.0;
      ++seen;
    }
  };

  double absolute_gain(std::size_t begin, std::size_t n, float threshold, double node) const {
    std::size_t n_left = 0;
    for (std::size_t i = 0; i < n; ++i) n_left += values_[i] <= threshold ? 1 : 0;
    std::array<Distances, 2> sides{Distances(n - n_left), Distances(n_left)};
    for (std::size_t i = 0; i < n; ++i) sides[values_[i] <= threshold ? 1 : 0].add(y_[begin + i]);
    return node - sides[0].sum - sides[1].sum;
  }

  // What the gains of a node's cuts are measured against.
  double node_error(std::size_t begin, std::size_t end) const {
    if (settings_.criterion == Criterion::mse)
      return std::accumulate(y_.begin() + static_cast<std::ptrdiff_t>(begin),
                             y_.begin() + static_cast<std::ptrdiff_t>(end), 0.0);
    Distances all(end - begin);
    for (std::size_t i = begin; i < end; ++i) all.add(y_[i]);
    return all.sum;
  }

  Cut best_cut(std::size_t begin, std::size_t end) {
    Cut best;
    std::size_t const n = end - begin;
    if (n < 2 || y_[begin] == y_[end - 1]) return best;  // ascending: all equal
    double const node = node_error(begin, end);
    for (std::size_t considered = 0; considered < features_.size(); ++considered) {
      if (considered >= tried_ && best.found) break;
      std::swap(features_[considered], features_[considered + random_.below(features_.size() - considered)]);
      std::size_t const feature = features_[considered];
      auto const [low, high] = gather(feature, begin, end);
      if (!(high > low + min_spread)) continue;
      float const threshold = threshold_between(low, high);
      double const gain = settings_.criterion == Criterion::mse ? squared_gain(begin, n, threshold, node)
                                                                : absolute_gain(begin, n, threshold, node);
      if (!best.found || gain > best.gain) best = {feature, threshold, gain, true};
      if (n == 2) break;  // two samples apart: no other cut gains more
    }
    best.gain = std::max(best.gain, 0.0);
    return best;
  }

  std::size_t partition(std::size_t begin, std::size_t end, Cut const& cut) {
    float const* const column = data_->x.data() + cut.feature * data_->y.size();
    std::size_t left = begin, right = 0;
    for (std::size_t i = begin; i < end; ++i) {
      auto const id = ids_[i];
      double const y = y_[i];
      bool const goes_left = column[id] <= cut.threshold;
      ids_[left] = id;  // at most where it was read
      y_[left] = y;
      spare_ids_[right] = id;
      spare_y_[right] = y;
      left += goes_left ? 1 : 0;
      right += goes_left ? 0 : 1;
    }
    std::copy_n(spare_ids_.begin(), right, ids_.begin() + static_cast<std::ptrdiff_t>(left));
    std::copy_n(spare_y_.begin(), right, y_.begin() + static_cast<std::ptrdiff_t>(left));
    return left;
  }

  Columns const* data_;
  Settings settings_;
  Random random_;
  std::size_t tried_;
  Tree tree_;
  std::vector<std::uint32_t> ids_, spare_ids_;
  std::vector<double> y_, spare_y_;  // of ids_
  std::vector<float> values_;        // of the current node and feature
  std::vector<std::size_t> features_;
  std::vector<double> gains_;
  std::vector<double>* importance_;
};

}  // namespace

std::size_t features_tried(MaxFeatures rule, std::size_t features) {
  switch (rule) {
    case MaxFeatures::all:
      break;
    case MaxFeatures::log2:
      return std::max<std::size_t>(1, std::bit_width(features) - 1);
    case MaxFeatures::sqrt:
      return std::max<std::size_t>(1, static_cast<std::size_t>(std::sqrt(static_cast<double>(features))));
  }
  return std::max<std::size_t>(1, features);
}

Tree grow(Columns const& data, Settings const& settings, Random random, std::vector<double>& importance) {
  return Grower(data, settings, random, importance).grow();
}

}  // namespace kernelcast::forest
