// Extremely randomised trees: learn a quantity of a kernel from its features, predict it with an interval.
//
// Problem: times and powers of kernels on a device, measured for some kernels, predicted for others. [braun] chapter 5.
// Method: regression trees of [geurts], grown on all samples. At a node some features are drawn, for each a random cut
// between the least and the greatest value; the cut that reduces the criterion most splits the node, until all targets
// are equal or no feature differs. A prediction is the mean over the trees; its interval comes from the training
// samples that share a leaf with it, weighted by how often they do [meinshausen].
// Limits: at most 254 features and 2^19 samples; features are rounded to float, as other implementations do. A forest
// predicts nothing outside the range of its training targets; what is unlike all training samples is reported, not
// corrected.
//
//   Forest forest = train(samples, settings);        // train.cpp, grow.cpp
//   Estimator estimator(forest, …); estimator.predict(x)   // estimator.hpp
//   Regressor::fit(data, plan)                       // regressor.hpp: one forest, or level and ratio
//   cross_validate(…)                                // validation.hpp
//   model_text(model), parse_model(text)             // model_file.hpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kernelcast::forest {

inline constexpr std::size_t max_feature_count = 254;
inline constexpr std::size_t max_sample_count = std::size_t{1} << 19;
inline constexpr std::size_t max_tree_count = 65536;

enum class Criterion : std::uint8_t { mse, mae };           // squared, absolute error
enum class MaxFeatures : std::uint8_t { all, log2, sqrt };  // features tried at a node
enum class Cuts : std::uint8_t { uniform, log };            // how a cut is drawn between two values

struct Settings {
  std::size_t trees = 512;
  MaxFeatures max_features = MaxFeatures::all;
  Criterion criterion = Criterion::mse;
  Cuts cuts = Cuts::uniform;
  std::uint64_t seed = 0;
  unsigned threads = 1;  // does not change the result
};

// How many of `features` are tried at a node; at least 1.
std::size_t features_tried(MaxFeatures, std::size_t features);

// Rows of features and their targets, in the scale in which the trees are grown. All finite.
struct Samples {
  std::size_t features = 0;
  std::vector<float> x;   // [sample * features + feature]
  std::vector<double> y;  // [sample]
  std::size_t size() const { return y.size(); }
  std::span<float const> row(std::size_t i) const { return {x.data() + i * features, features}; }
};

// A tree in pre-order, left child first: an inner node has its feature, a leaf `leaf`. Thresholds belong to the inner
// nodes in this order, leaf sizes to the leaves; members lists the samples leaf by leaf. A sample goes left when its
// feature is at most the threshold.
struct Tree {
  static constexpr std::uint8_t leaf = 255;
  std::vector<std::uint8_t> split;
  std::vector<float> threshold;
  std::vector<std::uint32_t> leaf_size;
  std::vector<std::uint32_t> members;
};

// Members number the samples in `order`: ascending targets, equal ones by their features. So a forest depends on the
// set of samples, not on the order of the rows.
struct Forest {
  Settings settings;
  std::size_t features = 0;
  std::vector<Tree> trees;
  std::vector<std::uint32_t> order;  // [member] -> row of the samples
  std::vector<double> targets;       // [member], ascending
  std::vector<double> importance;    // [feature]: mean decrease of the criterion, all together 1 (or 0: no split)
};

// Tree k depends on the seed and k alone: the first trees of a larger forest are the smaller one.
// Throws Error(bad_data) without samples, and for more features or samples than the limits.
Forest train(Samples const&, Settings const&);

}  // namespace kernelcast::forest
