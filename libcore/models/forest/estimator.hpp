// A forest that predicts in the target's own unit: value, interval, and how far it can be trusted.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/forest/flat.hpp"
#include "models/forest/forest.hpp"

namespace kernelcast::forest {

enum class Scale : std::uint8_t { log, plain };  // in which the trees see the target

// A target as the trees see it.
double scaled(double target, Scale);

// Which value stands for the weighted training samples behind a prediction: the mean over the trees, in the trees'
// scale [braun]; or the one with the least expected relative error, their median weighted by 1/target.
enum class Objective : std::uint8_t { mean, relative };

// What the trees learn: the target itself; or, of several devices, the kernel's mean over them and each device's ratio
// to it (regressor.hpp).
enum class TargetForm : std::uint8_t { direct, ratio };

struct Plan {
  Settings forest;
  Scale scale = Scale::log;
  Objective objective = Objective::mean;
  TargetForm form = TargetForm::direct;
  double interval = 0.9;              // share of the weighted training samples that the interval holds
  std::size_t calibration_folds = 0;  // how often samples are held out to find out how wide it must be; 0: never
  double margin = 0;                  // by how much the interval's ends move apart, each, in the trees' scale
};

struct Prediction {
  double value = 0, low = 0, high = 0;  // low <= value <= high
  double support = 0;                   // share of the trees in which the nearest training sample is in the same leaf
  std::uint32_t nearest = 0;            // that sample's row in the training samples
  std::optional<std::size_t> outside;   // a feature outside the range of the training samples
  // No training sample is like this one.
  bool extrapolated() const { return outside || support < min_support; }
  static constexpr double min_support = 0.05;
  bool operator==(Prediction const&) const = default;
};

// Room to work in; one for each thread.
struct Scratch {
  std::vector<std::uint32_t> leaf_of_tree;
  std::vector<double> weight;          // [member]
  std::vector<std::uint64_t> touched;  // a bit for each member
};

class Estimator {
 public:
  // Targets in their own unit; above 0 where the scale is log or the objective relative, else Error(bad_data).
  static Estimator fit(Samples const&, Plan const&);

  // From a forest whose targets are in the plan's scale, the same targets in their own unit (ascending, one for each
  // member), and the features' ranges. Throws as Flat.
  Estimator(Forest forest, Plan plan, std::vector<double> targets, std::vector<float> low, std::vector<float> high);

  // Of the whole forest, or of its first trees.
  Prediction predict(std::span<float const> x, Scratch&) const;
  std::vector<Prediction> predict(std::span<float const> x, Scratch&, std::span<std::size_t const> first_trees) const;
  // Of many samples, one after the other in `rows`: the same, several times faster. [row][number of trees]
  std::vector<Prediction> predict_rows(std::span<float const> rows, Scratch&) const;
  std::vector<Prediction> predict_rows(std::span<float const> rows, Scratch&,
                                       std::span<std::size_t const> first_trees) const;

  Forest const& forest() const { return forest_; }
  Flat const& flat() const { return flat_; }
  Plan const& plan() const { return plan_; }
  void set_margin(double margin) { plan_.margin = margin; }
  std::vector<float> const& low() const { return low_; }  // [feature], of the training samples
  std::vector<float> const& high() const { return high_; }
  std::vector<double> const& targets() const { return targets_; }  // [member], in the target's own unit
  double min_target() const { return targets_.front(); }
  double greatest_target() const { return targets_.back(); }

 private:
  void add(std::span<float const> x, std::span<std::uint32_t const> leaf_of_tree, Scratch&,
           std::span<std::size_t const> first_trees, std::vector<Prediction>& out) const;
  Prediction of_first(std::span<std::uint32_t const> leaf_of_tree, Scratch&) const;
  std::optional<std::size_t> outside(std::span<float const> x) const;
  void interval(Prediction&, double trees, Scratch&) const;

  Forest forest_;
  Flat flat_;
  Plan plan_;
  std::vector<float> low_, high_;
  std::vector<double> targets_;
};

}  // namespace kernelcast::forest
