#include "models/fit/fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include <fmt/format.h>

namespace kernelcast::model::fit {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

std::string_view name(Model model) {
  switch (model) {
    case Model::nnls:
      return "nnls";
    case Model::wls:
      return "wls";
    case Model::lassolars:
      break;
  }
  return "lassolars";
}

namespace {

VectorXd powers(double n, std::uint32_t) {
  VectorXd out(4);
  out << 1, n, n * n, n * n * n;
  return out;
}

// Rows and columns of parts: near-square factors, as partitions are made.
std::pair<double, double> split(std::uint32_t gpus) {
  auto rows = static_cast<std::uint32_t>(std::sqrt(static_cast<double>(gpus)));
  while (rows > 1 && gpus % rows != 0) --rows;
  rows = std::max(rows, 1U);
  return {rows, gpus / rows};
}

constexpr std::array<int, 4> sharing{2, 4, 8, 16};  // GPUs that may share an upstream link

struct PhysicalTerm {
  std::string name;
  double (*value)(double n, double g, double p, double q, double k);
  double k;
};

// What partitioned work consists of. p and q are rows and columns of parts.
std::vector<PhysicalTerm> const& physical_terms() {
  static auto const terms = [] {
    std::vector<PhysicalTerm> t;
    auto const add = [&](std::string term, double (*value)(double, double, double, double, double), double k = 0) {
      t.push_back({std::move(term), value, k});
    };
    add("1", [](double, double, double, double, double) { return 1.0; });
    add("n", [](double n, double, double, double, double) { return n; });
    add("n^2", [](double n, double, double, double, double) { return n * n; });
    // The work of one part, by what it grows with.
    add("n/g", [](double n, double g, double, double, double) { return n / g; });
    add("n^2/g", [](double n, double g, double, double, double) { return n * n / g; });
    add("n^3/g", [](double n, double g, double, double, double) { return n * n * n / g; });
    // Sides of a part, where there are neighbours.
    add("n/p:q>1", [](double n, double, double p, double q, double) { return q > 1 ? n / p : 0; });
    add("n/q:p>1", [](double n, double, double p, double q, double) { return p > 1 ? n / q : 0; });
    // Rows and columns of whole matrices that the parts of a row or column get.
    add("n^2/p", [](double n, double, double p, double, double) { return n * n / p; });
    add("n^2/q", [](double n, double, double, double q, double) { return n * n / q; });
    add("n^2*(p+q)", [](double n, double, double p, double q, double) { return n * n * (p + q); });
    // Of all parts through one link, and of each to all others.
    add("n*(g-1)/g", [](double n, double g, double, double, double) { return n * (g - 1) / g; });
    add("n*g", [](double n, double g, double, double, double) { return n * g; });
    add("g-1", [](double, double g, double, double, double) { return g - 1; });
    for (int const k : sharing) {
      // Up to k GPUs share a link: what they get together, and what crosses it.
      add(
          fmt::format("n*min(g,{})/g", k),
          [](double n, double g, double, double, double s) { return n * std::min(g, s) / g; }, k);
      add(
          fmt::format("n^2*min(g,{})/g", k),
          [](double n, double g, double, double, double s) { return n * n * std::min(g, s) / g; }, k);
      add(
          fmt::format("n^2*min(g,{})*(1/p+1/q)", k),
          [](double n, double g, double p, double q, double s) { return n * n * std::min(g, s) * (1 / p + 1 / q); }, k);
      add(
          fmt::format("n*min(g,{})", k),
          [](double n, double g, double, double, double s) { return n * std::min(g, s); }, k);
      add(
          fmt::format("n*{0}*max(g-{0},0)/g", k),
          [](double n, double g, double, double, double s) { return n * s * std::max(g - s, 0.0) / g; }, k);
      add(fmt::format("n:g>{}", k), [](double n, double g, double, double, double s) { return g > s ? n : 0; }, k);
    }
    return t;
  }();
  return terms;
}

VectorXd physical(double n, std::uint32_t gpus) {
  auto const& terms = physical_terms();
  auto const [p, q] = split(gpus);
  VectorXd out(static_cast<Index>(terms.size()));
  for (std::size_t i = 0; i < terms.size(); ++i) out[static_cast<Index>(i)] = terms[i].value(n, gpus, p, q, terms[i].k);
  return out;
}

// [braun] 3.3: exponents of n 0..3, of g -1..3.
VectorXd products(double n, std::uint32_t gpus) {
  VectorXd out(20);
  Index i = 0;
  for (int x = 0; x <= 3; ++x)
    for (int y = -1; y <= 3; ++y) out[i++] = std::pow(n, x) * std::pow(static_cast<double>(gpus), y);
  return out;
}

std::string product_name(int x, int y) {
  std::string const a = x == 0 ? "" : x == 1 ? "n" : fmt::format("n^{}", x);
  std::string const b = y == 0 ? "" : y == 1 ? "g" : y == -1 ? "1/g" : fmt::format("g^{}", y);
  if (a.empty() && b.empty()) return "1";
  if (a.empty() || b.empty()) return a + b;
  return y == -1 ? a + "/g" : a + "*" + b;
}

}  // namespace

Basis const& basis(Model model) {
  static Basis const by_power{{"1", "n", "n^2", "n^3"}, powers};
  static Basis const by_physics = [] {
    Basis out{{}, physical};
    for (auto const& term : physical_terms()) out.names.push_back(term.name);
    return out;
  }();
  static Basis const by_product = [] {
    Basis out{{}, products};
    for (int x = 0; x <= 3; ++x)
      for (int y = -1; y <= 3; ++y) out.names.push_back(product_name(x, y));
    return out;
  }();
  return model == Model::nnls ? by_power : model == Model::wls ? by_physics : by_product;
}

namespace {

// Rows of a linear system with its weights put in, columns scaled to length 1.
struct System {
  MatrixXd a;
  VectorXd b, scale;
};

System system_of(std::vector<Sample> const& samples, Options const& options) {
  auto const& base = basis(options.model);
  auto const rows = static_cast<Index>(samples.size()), columns = static_cast<Index>(base.names.size());
  System s{MatrixXd(rows, columns), VectorXd(rows), VectorXd(columns)};
  for (Index i = 0; i < rows; ++i) {
    auto const& sample = samples[static_cast<std::size_t>(i)];
    double const weight = options.relative ? 1 / sample.time_s : 1;
    s.a.row(i) = weight * base.values(sample.n, sample.gpus).transpose();
    s.b[i] = weight * sample.time_s;
  }
  for (Index j = 0; j < columns; ++j) {
    s.scale[j] = s.a.col(j).norm();
    if (s.scale[j] > 0) s.a.col(j) /= s.scale[j];
  }
  return s;
}

Part part_of(std::uint32_t gpus, Model model, System const& s, VectorXd const& x) {
  Part out{gpus, {}};
  double const rounding = 1e-12 * x.cwiseAbs().maxCoeff();  // columns have length 1
  for (Index j = 0; j < x.size(); ++j)
    if (std::fabs(x[j]) > rounding && s.scale[j] > 0)
      out.terms.push_back({basis(model).names[static_cast<std::size_t>(j)], x[j] / s.scale[j]});
  return out;
}

double mean_square_error(System const& s, VectorXd const& x, std::vector<Index> const& rows) {
  double sum = 0;
  for (auto const i : rows) sum += std::pow(s.b[i] - s.a.row(i).dot(x), 2);
  return sum / static_cast<double>(rows.size());
}

// The intercept is not penalised. Taking out the projection on the (weighted) constant column.
System centred(System s, Index constant) {
  VectorXd const unit = s.a.col(constant);
  s.b -= unit * unit.dot(s.b);
  for (Index j = 0; j < s.a.cols(); ++j) {
    s.a.col(j) -= unit * unit.dot(s.a.col(j));
    double const length = s.a.col(j).norm();
    if (j == constant || length < 1e-9)
      s.a.col(j).setZero();
    else
      s.a.col(j) /= length;
  }
  return s;
}

VectorXd lasso(System const& s, double fraction, double* violation) {
  constexpr Index constant = 1;  // n^0 g^0 in the order of products()
  auto const c = centred(s, constant);
  double const alpha = fraction * largest_alpha(c.a, c.b);
  VectorXd const w = lars(c.a, c.b, alpha);
  if (violation) *violation = kkt_violation(c.a, c.b, w, alpha);
  // Back to the columns before centring; the constant takes the rest.
  VectorXd const unit = s.a.col(constant);
  VectorXd x = VectorXd::Zero(w.size());
  for (Index j = 0; j < w.size(); ++j) {
    if (w[j] == 0) continue;
    VectorXd const off = s.a.col(j) - unit * unit.dot(s.a.col(j));
    x[j] = w[j] / off.norm();
  }
  x[constant] = unit.dot(s.b - s.a * x);
  return x;
}

double fraction_by_cross_validation(std::vector<Sample> const& samples, Options const& options) {
  std::vector<std::size_t> order(samples.size());
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(options.seed);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  std::size_t const folds = std::min<std::size_t>(5, samples.size());
  auto const all = system_of(samples, options);
  double best = 1e-3, least = -1;
  for (double fraction = 0.1; fraction > 0.9e-7; fraction /= std::sqrt(10.0)) {
    double error = 0;
    for (std::size_t fold = 0; fold < folds; ++fold) {
      std::vector<Sample> train;
      std::vector<Index> test;
      for (std::size_t i = 0; i < order.size(); ++i)
        if (i % folds == fold)
          test.push_back(static_cast<Index>(order[i]));
        else
          train.push_back(samples[order[i]]);
      if (train.empty() || test.empty()) continue;
      auto const s = system_of(train, options);
      VectorXd x = lasso(s, fraction, nullptr);
      for (Index j = 0; j < x.size(); ++j) x[j] = s.scale[j] > 0 ? x[j] / s.scale[j] * all.scale[j] : 0;
      error += mean_square_error(all, x, test);
    }
    if (least < 0 || error < least) {
      least = error;
      best = fraction;
    }
  }
  return best;
}

}  // namespace

std::optional<double> Fit::time_s(double n, std::uint32_t gpus) const {
  for (auto const& part : parts) {
    if (part.gpus != 0 && part.gpus != gpus) continue;
    auto const& base = basis(model);
    VectorXd const values = base.values(n, gpus);
    double sum = 0;
    for (auto const& term : part.terms) {
      auto const at = std::find(base.names.begin(), base.names.end(), term.name) - base.names.begin();
      sum += term.coefficient * values[at];
    }
    return sum > 0 ? std::optional(sum) : std::nullopt;
  }
  return std::nullopt;
}

Fit fit(std::vector<Sample> const& samples, Options const& options) {
  Fit out;
  out.model = options.model;
  if (options.model == Model::nnls) {
    std::map<std::uint32_t, std::vector<Sample>> by_gpus;
    for (auto const& sample : samples) by_gpus[sample.gpus].push_back(sample);
    for (auto const& [gpus, group] : by_gpus) {
      auto const s = system_of(group, options);
      out.parts.push_back(part_of(gpus, options.model, s, nnls(s.a, s.b)));
    }
  } else {
    auto const s = system_of(samples, options);
    if (options.model == Model::wls) {
      out.parts.push_back(part_of(0, options.model, s, nnls(s.a, s.b)));
    } else {
      out.alpha = options.alpha ? *options.alpha : fraction_by_cross_validation(samples, options);
      double violation = 0;
      out.parts.push_back(part_of(0, options.model, s, lasso(s, *out.alpha, &violation)));
      out.kkt_violation = violation;
    }
  }
  double sum = 0;
  for (auto const& sample : samples)
    sum += std::fabs(out.time_s(sample.n, sample.gpus).value_or(0) / sample.time_s - 1);
  out.mape_pct = 100 * sum / static_cast<double>(samples.size());
  return out;
}

std::optional<Best> best(Fit const& fitted, double n, std::vector<std::uint32_t> const& candidates) {
  std::vector<std::pair<double, std::uint32_t>> times;
  for (auto const gpus : candidates)
    if (auto const time_s = fitted.time_s(n, gpus)) times.emplace_back(*time_s, gpus);
  if (times.empty()) return std::nullopt;
  std::sort(times.begin(), times.end());
  Best out{times[0].second, times[0].first, std::nullopt, 0};
  if (times.size() > 1) {
    out.runner_up = times[1].second;
    out.runner_up_s = times[1].first;
  }
  return out;
}

}  // namespace kernelcast::model::fit
