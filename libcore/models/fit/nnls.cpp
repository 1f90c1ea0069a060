#include <limits>

#include <Eigen/QR>

#include "models/fit/fit.hpp"

namespace kernelcast::model::fit {

namespace {

// Least squares on the columns in `used`, 0 elsewhere.
Eigen::VectorXd solve(Eigen::MatrixXd const& a, Eigen::VectorXd const& b, std::vector<Eigen::Index> const& used) {
  Eigen::MatrixXd part(a.rows(), static_cast<Eigen::Index>(used.size()));
  for (std::size_t i = 0; i < used.size(); ++i) part.col(static_cast<Eigen::Index>(i)) = a.col(used[i]);
  Eigen::VectorXd const found = part.colPivHouseholderQr().solve(b);
  Eigen::VectorXd x = Eigen::VectorXd::Zero(a.cols());
  for (std::size_t i = 0; i < used.size(); ++i) x[used[i]] = found[static_cast<Eigen::Index>(i)];
  return x;
}

}  // namespace

Eigen::VectorXd nnls(Eigen::MatrixXd const& a, Eigen::VectorXd const& b) {
  Eigen::Index const columns = a.cols();
  Eigen::VectorXd x = Eigen::VectorXd::Zero(columns);
  std::vector<char> in(static_cast<std::size_t>(columns), 0);
  double const tolerance = 1e-12 * std::max(1e-300, (a.transpose() * b).cwiseAbs().maxCoeff());
  for (Eigen::Index step = 0; step < 10 * columns; ++step) {
    // The column that would reduce the error most joins.
    Eigen::VectorXd const gradient = a.transpose() * (b - a * x);
    Eigen::Index joins = -1;
    for (Eigen::Index j = 0; j < columns; ++j)
      if (!in[static_cast<std::size_t>(j)] && gradient[j] > tolerance && (joins < 0 || gradient[j] > gradient[joins]))
        joins = j;
    if (joins < 0) break;
    in[static_cast<std::size_t>(joins)] = 1;
    for (;;) {
      std::vector<Eigen::Index> used;
      for (Eigen::Index j = 0; j < columns; ++j)
        if (in[static_cast<std::size_t>(j)]) used.push_back(j);
      Eigen::VectorXd const free = solve(a, b, used);
      double reach = 1;
      for (auto const j : used)
        if (free[j] <= 0) reach = std::min(reach, x[j] / std::max(x[j] - free[j], std::numeric_limits<double>::min()));
      x += reach * (free - x);
      if (reach >= 1) break;
      // Those that came to 0 leave.
      bool left = false;
      for (auto const j : used)
        if (free[j] <= 0 && x[j] <= 1e-14 * x.cwiseAbs().maxCoeff()) {
          x[j] = 0;
          in[static_cast<std::size_t>(j)] = 0;
          left = true;
        }
      if (!left) break;
    }
    if (x[joins] == 0) break;  // it left at once: rounding
  }
  return x;
}

}  // namespace kernelcast::model::fit
