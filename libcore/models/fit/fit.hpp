// t(n, g): the time of an application over problem size and number of GPUs, fitted to simulated or measured times.
//
// Problem: a few times are known; how many GPUs are best for other sizes, and for numbers of GPUs without a time?
// Method, one of
//   nnls       for each number of GPUs on its own, non-negative least squares on 1, n, n^2, n^3: the default
//   wls        one model for all: non-negative least squares on physical terms of n, g and the split of g into rows and
//              columns of parts; for numbers of GPUs that were not measured
//   lassolars  [braun] 3.3: lasso by least angle regression on n^0..3 x g^-1..3
// all with relative weights by default: an error of 1 % counts alike whatever the time.
// Limits: extrapolation in n trusts the terms; nnls knows no other number of GPUs than it has seen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Core>

namespace kernelcast::model::fit {

struct Sample {
  double n = 0;
  std::uint32_t gpus = 1;
  double time_s = 0;  // above 0
};

enum class Model { nnls, wls, lassolars };
std::string_view name(Model);

struct Options {
  Model model = Model::nnls;
  bool relative = true;         // weights 1/t^2, else 1
  std::optional<double> alpha;  // lassolars: as a fraction of the least alpha that leaves no term; empty: by
                                // five-fold cross-validation
  std::uint64_t seed = 0;       // of the folds
};

struct Term {
  std::string name;  // "n^2", "n^3/g"
  double coefficient = 0;
};

// A linear model: the terms of one number of GPUs (nnls), or of all (gpus is 0).
struct Part {
  std::uint32_t gpus = 0;
  std::vector<Term> terms;
};

class Fit {
 public:
  Model model = Model::nnls;
  std::vector<Part> parts;
  double mape_pct = 0;                  // over the samples
  std::optional<double> alpha;          // lassolars, fraction of the largest
  std::optional<double> kkt_violation;  // lassolars, of the optimality conditions, relative to alpha

  // Seconds; empty where the model knows nothing of g (nnls) or gives no time above 0.
  std::optional<double> time_s(double n, std::uint32_t gpus) const;
};

// At least one sample.
Fit fit(std::vector<Sample> const& samples, Options const& options);

// The number of GPUs with the least time among `candidates`, and the next; empty where the model knows none.
struct Best {
  std::uint32_t gpus = 0;
  double time_s = 0;
  std::optional<std::uint32_t> runner_up;
  double runner_up_s = 0;
};
std::optional<Best> best(Fit const& fit, double n, std::vector<std::uint32_t> const& candidates);

// The terms of a model, by name and value.
struct Basis {
  std::vector<std::string> names;
  Eigen::VectorXd (*values)(double n, std::uint32_t gpus);
};
Basis const& basis(Model);

// min |A x - b| with x >= 0. Lawson and Hanson 1974.
Eigen::VectorXd nnls(Eigen::MatrixXd const& a, Eigen::VectorXd const& b);

// min |y - X w|^2 / (2 rows) + alpha |w|_1 by least angle regression with the lasso's drops (Efron and others 2004).
// Columns that are numerically dependent on those in use are left out. Returns w.
Eigen::VectorXd lars(Eigen::MatrixXd const& x, Eigen::VectorXd const& y, double alpha);
// The least alpha at which w = 0.
double largest_alpha(Eigen::MatrixXd const& x, Eigen::VectorXd const& y);
// How far w is from the optimality conditions: |gradient| <= alpha, and = alpha with the sign of w where w is not 0;
// relative to alpha.
double kkt_violation(Eigen::MatrixXd const& x, Eigen::VectorXd const& y, Eigen::VectorXd const& w, double alpha);

}  // namespace kernelcast::model::fit
