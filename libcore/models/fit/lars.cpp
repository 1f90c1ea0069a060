#include <algorithm>
#include <cmath>

#include <Eigen/QR>

#include "models/fit/fit.hpp"

namespace kernelcast::model::fit {

double largest_alpha(Eigen::MatrixXd const& x, Eigen::VectorXd const& y) {
  return (x.transpose() * y).cwiseAbs().maxCoeff() / static_cast<double>(x.rows());
}

double kkt_violation(Eigen::MatrixXd const& x, Eigen::VectorXd const& y, Eigen::VectorXd const& w, double alpha) {
  Eigen::VectorXd const gradient = x.transpose() * (y - x * w) / static_cast<double>(x.rows());
  double worst = 0;
  for (Eigen::Index j = 0; j < w.size(); ++j) {
    double const off = w[j] == 0 ? std::fabs(gradient[j]) - alpha : std::fabs(gradient[j] - std::copysign(alpha, w[j]));
    worst = std::max(worst, off);
  }
  return alpha > 0 ? worst / alpha : worst;
}

namespace {

class Path {
 public:
  Path(Eigen::MatrixXd const& x, Eigen::VectorXd const& y, double alpha)
      : x_(x),
        y_(y),
        alpha_(alpha * static_cast<double>(x.rows())),
        w_(Eigen::VectorXd::Zero(x.cols())),
        fitted_(Eigen::VectorXd::Zero(x.rows())),
        state_(static_cast<std::size_t>(x.cols()), outside) {}

  Eigen::VectorXd walk() {
    for (Eigen::Index step = 0; step < 50 * x_.cols(); ++step)
      if (!advance()) break;
    return w_;
  }

 private:
  enum State : char { outside, active, dependent };
  State& state(Eigen::Index j) { return state_[static_cast<std::size_t>(j)]; }

  Eigen::MatrixXd columns(std::vector<Eigen::Index> const& which) const {
    Eigen::MatrixXd out(x_.rows(), static_cast<Eigen::Index>(which.size()));
    for (std::size_t i = 0; i < which.size(); ++i) out.col(static_cast<Eigen::Index>(i)) = x_.col(which[i]);
    return out;
  }

  bool advance() {
    Eigen::VectorXd const c = x_.transpose() * (y_ - fitted_);
    double largest = 0;
    for (Eigen::Index j = 0; j < c.size(); ++j)
      if (state(j) != dependent) largest = std::max(largest, std::fabs(c[j]));
    if (largest <= alpha_ * (1 + 1e-12) || largest < 1e-300) return false;
    if (dropped_ < 0) {
      Eigen::Index joins = -1;
      for (Eigen::Index j = 0; j < c.size(); ++j)
        if (state(j) == outside && (joins < 0 || std::fabs(c[j]) > std::fabs(c[joins]))) joins = j;
      if (joins >= 0 && std::fabs(c[joins]) >= largest * (1 - 1e-9)) {
        auto with = active_;
        with.push_back(joins);
        auto qr = columns(with).colPivHouseholderQr();
        qr.setThreshold(1e-9);
        if (qr.rank() < static_cast<Eigen::Index>(with.size())) {
          state(joins) = dependent;
          return true;
        }
        active_ = std::move(with);
        state(joins) = active;
      }
    }
    if (active_.empty()) return false;
    return move(c, largest);
  }

  // Along the direction in which all active correlations shrink alike, up to the next event.
  bool move(Eigen::VectorXd const& c, double largest) {
    auto const k = static_cast<Eigen::Index>(active_.size());
    Eigen::VectorXd signs(k);
    for (Eigen::Index i = 0; i < k; ++i) signs[i] = c[active_[static_cast<std::size_t>(i)]] > 0 ? 1 : -1;
    Eigen::MatrixXd const part = columns(active_);
    Eigen::HouseholderQR<Eigen::MatrixXd> const qr(part);
    Eigen::MatrixXd const r = qr.matrixQR().topRows(k).triangularView<Eigen::Upper>();
    Eigen::VectorXd const half = r.transpose().triangularView<Eigen::Lower>().solve(signs);
    Eigen::VectorXd const direction = r.triangularView<Eigen::Upper>().solve(half);
    Eigen::VectorXd const u = part * direction;
    Eigen::VectorXd const a = x_.transpose() * u;
    double reach = largest - alpha_;
    bool last = true;
    for (Eigen::Index j = 0; j < c.size(); ++j) {
      if (state(j) != outside) continue;
      // What has just dropped out stands at its bound: only a later meeting counts.
      double const least = (j == dropped_ ? 1e-9 : 1e-12) * largest;
      for (double const t : {(largest - c[j]) / (1 - a[j]), (largest + c[j]) / (1 + a[j])})
        if (t > least && t < reach) {
          reach = t;
          last = false;
        }
    }
    Eigen::Index drops = -1;
    for (Eigen::Index i = 0; i < k; ++i) {
      double const t = -w_[active_[static_cast<std::size_t>(i)]] / direction[i];
      if (t > 1e-15 * largest && t < reach) {
        reach = t;
        drops = i;
        last = false;
      }
    }
    for (Eigen::Index i = 0; i < k; ++i) w_[active_[static_cast<std::size_t>(i)]] += reach * direction[i];
    fitted_ += reach * u;
    dropped_ = -1;
    if (drops >= 0) {
      dropped_ = active_[static_cast<std::size_t>(drops)];
      w_[dropped_] = 0;
      state(dropped_) = outside;
      active_.erase(active_.begin() + drops);
    }
    return !last;
  }

  Eigen::MatrixXd const& x_;
  Eigen::VectorXd const& y_;
  double alpha_;
  Eigen::VectorXd w_, fitted_;
  std::vector<State> state_;
  std::vector<Eigen::Index> active_;
  Eigen::Index dropped_ = -1;  // by the last step
};

}  // namespace

Eigen::VectorXd lars(Eigen::MatrixXd const& x, Eigen::VectorXd const& y, double alpha) {
  return Path(x, y, alpha).walk();
}

}  // namespace kernelcast::model::fit
