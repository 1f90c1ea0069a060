// What a plan makes of samples: a forest of the target, or two that take it apart.
//
// Problem: which device is the fastest? Times of kernels differ by many orders of magnitude, devices by a small factor.
// A forest of times spends its cuts on the former and ranks devices by what is left. Method: the logarithm of a target
// of kernel k on device d is taken apart, log t(k, d) = l(k) + r(k, d): the kernel's mean over the devices and the
// device's ratio to it. One forest learns l from the kernel's features, another r from all features. Where a kernel
// lacks devices, l is the kernel's term of the least-squares fit l(k) + e(d) with the mean of e 0: a kernel that was
// measured on slow devices alone does not look slow. Limits: needs features of devices and targets above 0. A level
// that is wrong is wrong on all devices alike, which no ranking sees.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "models/forest/data.hpp"
#include "models/forest/estimator.hpp"

namespace kernelcast::forest {

// The parts of the logarithms of data.samples.y, from its configurations and devices.
struct Parts {
  Samples level;              // a row for each configuration: its kernel's features; y = exp(l)
  std::vector<double> ratio;  // [row] exp(r)
};
Parts parts_of(Data const&);

class Regressor {
 public:
  // Throws as Estimator::fit; Error(usage) for ratios without several devices or of a plain scale.
  static Regressor fit(Data const&, Plan const&);

  explicit Regressor(Estimator direct);
  // `margin`: by how much the ends of the product's interval move apart; `least` and `greatest`: of the targets.
  Regressor(Estimator level, Estimator ratio, double margin, double least, double greatest);

  // As Estimator; of two forests the product, with an interval as if their errors were independent.
  Prediction predict(std::span<float const> x, Scratch&) const;
  std::vector<Prediction> predict_rows(std::span<float const> rows, Scratch&) const;
  std::vector<Prediction> predict_rows(std::span<float const> rows, Scratch&,
                                       std::span<std::size_t const> first_trees) const;

  Estimator const& estimator() const { return estimator_; }  // of the target, or of the ratio
  Estimator const* level() const { return level_ ? &*level_ : nullptr; }
  Plan plan() const;
  void set_margin(double margin);
  double min_target() const { return min_target_; }
  double greatest_target() const { return max_target_; }
  // [feature]: part in reducing the criterion, all together 1 (or 0); of two forests by the variance that each
  // explains.
  std::vector<double> importance() const;

 private:
  Prediction product(Prediction const& level, Prediction const& ratio) const;

  Estimator estimator_;
  std::optional<Estimator> level_;
  double margin_ = 0;  // of the product
  double min_target_, max_target_;
};

}  // namespace kernelcast::forest
