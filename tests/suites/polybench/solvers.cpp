// Statistics and factorisations: corr, covar, lu, gramschmidt.
#include <algorithm>

#include "scenario.hpp"

namespace kernelcast::suites {
namespace {

std::vector<Rounded> means(Matrix const& data) {
  std::vector<Rounded> result;
  for (std::size_t column = 0; column < data.columns(); ++column) {
    Sum sum;
    for (std::size_t point = 0; point < data.rows(); ++point) sum += data(point, column);
    result.push_back(sum.total() / Rounded(static_cast<float>(data.rows())));
  }
  return result;
}

Rounded column_product(Matrix const& data, std::size_t a, std::size_t b) {
  Sum sum;
  for (std::size_t row = 0; row < data.rows(); ++row) sum += data(row, a) * data(row, b);
  return sum.total();
}

// A deviation near epsilon, where rounding decides, has no bound.
std::vector<Rounded> deviations(Matrix const& data, std::vector<Rounded> const& mean, float epsilon) {
  std::vector<Rounded> result;
  for (std::size_t column = 0; column < data.columns(); ++column) {
    Sum sum;
    for (std::size_t point = 0; point < data.rows(); ++point) {
      Rounded const away = data(point, column) - mean[column];
      sum += away * away;
    }
    Rounded const spread = sqrt(sum.total() / Rounded(static_cast<float>(data.rows())));
    if (std::abs(spread.value() - epsilon) <= spread.error()) throw std::out_of_range("a deviation at epsilon");
    result.push_back(spread.value() <= epsilon ? Rounded(1) : spread);
  }
  return result;
}

Expected corr(Scenario const& s) {
  Matrix data = s.matrix("data", s.integer("corr_mean", 1));
  auto const mean = means(data), deviation = deviations(data, mean, s.number("corr_deviation", 0));
  Rounded const root = sqrt(Rounded(static_cast<float>(data.rows())));
  for (std::size_t point = 0; point < data.rows(); ++point)
    for (std::size_t j = 0; j < data.columns(); ++j)
      data(point, j) = (data(point, j) - mean[j]) / (root * deviation[j]);
  Matrix correlation(data.columns(), data.columns());
  for (std::size_t i = 0; i < data.columns(); ++i)
    for (std::size_t j = 0; j < data.columns(); ++j)
      correlation(i, j) = i == j ? Rounded(1) : column_product(data, i, j);
  return {{"data", data.elements()}, {"mean", mean}, {"deviation", deviation}, {"correlation", correlation.elements()}};
}

Expected covar(Scenario const& s) {
  Matrix data = s.matrix("data", s.integer("covar_mean", 1));
  auto const mean = means(data);
  for (std::size_t point = 0; point < data.rows(); ++point)
    for (std::size_t j = 0; j < data.columns(); ++j) data(point, j) -= mean[j];
  Matrix covariance(data.columns(), data.columns());
  for (std::size_t i = 0; i < data.columns(); ++i)
    for (std::size_t j = 0; j < data.columns(); ++j) covariance(i, j) = column_product(data, i, j);
  return {{"data", data.elements()}, {"mean", mean}, {"covariance", covariance.elements()}};
}

// By rows: an element is what is left of the matrix after the products of the elements before it; those above the
// diagonal are divided by it.
Expected lu(Scenario const& s) {
  std::size_t const n = s.integer("lu_divide", 1);
  Matrix a = s.matrix("a", n);
  Matrix const factors = s.result("a", n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      Sum rest;
      rest += a(i, j);
      for (std::size_t k = 0; k < std::min(i, j); ++k) rest += Rounded() - factors(i, k) * factors(k, j);
      a(i, j) = i < j ? rest.total() / factors(i, i) : rest.total();
    }
  return {{"a", a.elements()}};
}

// Column by column: what is left of a column after each earlier one is taken out of it.
Expected gramschmidt(Scenario const& s) {
  std::size_t const columns = s.integer("gramschmidt_norm", 2);
  Matrix a = s.matrix("a", columns), r = s.matrix("r", columns), q = s.matrix("q", columns);
  Matrix const left = s.result("a", columns), q_result = s.result("q", columns), r_result = s.result("r", columns);
  for (std::size_t j = 0; j < columns; ++j) {
    for (std::size_t k = 0; k < j; ++k) {
      Sum sum;
      for (std::size_t i = 0; i < a.rows(); ++i) sum += q_result(i, k) * a(i, j);
      r(k, j) = sum.total();
      for (std::size_t i = 0; i < a.rows(); ++i) a(i, j) -= q_result(i, k) * r_result(k, j);
    }
    r(j, j) = sqrt(column_product(left, j, j));
    for (std::size_t i = 0; i < a.rows(); ++i) q(i, j) = left(i, j) / r_result(j, j);
  }
  return {{"a", a.elements()}, {"q", q.elements()}, {"r", r.elements()}};
}

}  // namespace

Expected expect_solver(std::string_view workload, Scenario const& s) {
  if (workload == "corr") return corr(s);
  if (workload == "covar") return covar(s);
  if (workload == "lu") return lu(s);
  if (workload == "gramschmidt") return gramschmidt(s);
  return {};
}

}  // namespace kernelcast::suites
