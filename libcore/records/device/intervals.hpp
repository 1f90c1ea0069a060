// How far measured times may lie from projected ones, by what is known of the device.
//
// Problem: an interval that a model's equations give says what they leave open, not how wrong they are. Method: the
// residuals of public measurements, as quantiles of cells (devdb/intervals.csv, made by bench-suites/validation): the
// cell of a projection is that of its architecture, limiter and regime, and where the table has none, because too few
// kernels were measured, the next of cell_chain(). The table of a device is resolved when the database is loaded, so
// that a projection looks up an index. Limits: devices of unmeasured architectures have the cells of any
// architecture, wider by what leaving an architecture out costs.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "records/interval.hpp"

namespace kernelcast::device {

// The ends over the projected time; none known: both 0.
struct Factors {
  double low = 0, high = 0;
};

struct Cell {
  std::string architecture;  // empty: any
  std::optional<record::Limiter> limiter;
  std::optional<record::Regime> regime;
  auto operator<=>(Cell const&) const = default;
};

// A cell and those that replace a missing one, the nearest first: without the limiter, without the architecture,
// without both, without anything.
std::array<Cell, 5> cell_chain(Cell const&);

record::Relation relation_of(std::string_view vendor, std::string_view architecture, std::string_view other_vendor,
                             std::string_view other_architecture);

using TestedOn = record::PerValue<record::ResidualModel, record::Tested>;

// Of one device.
class Residuals {
 public:
  Residuals() = default;
  // From the rows of the whole table, as far as the models were tested on this device.
  Residuals(std::vector<record::Interval> const&, std::string const& architecture, TestedOn const&);
  // For all limiters and regimes.
  void set(record::ResidualModel, Factors);
  void set_ratios(std::vector<record::Ratio> const&);

  // `limiter`: none where the model names none.
  Factors at(record::ResidualModel model, std::optional<record::Limiter> limiter, double time_s) const {
    if (!factors_) return {};
    return (*factors_)[place(model, limiter, record::regime_of(limiter, time_s))];
  }
  // Sets the ends of the interval of a projection that has a time; to nothing where no residuals are known.
  template <class Projection>
  void bound(Projection& p, record::ResidualModel model, std::optional<record::Limiter> limiter) const {
    auto const factors = at(model, limiter, *p.time_s);
    p.time_low_s.reset(), p.time_high_s.reset();
    if (factors.high <= 0) return;
    p.time_low_s = *p.time_s * factors.low;
    p.time_high_s = std::min(*p.time_s * factors.high, std::numeric_limits<double>::max());
  }

  // Whether measured times of this device, or of one of its architecture, have tested the model.
  record::Tested tested(record::ResidualModel model) const { return tested_[model]; }
  bool knows_architecture(record::ResidualModel model) const { return tested_[model] != record::Tested::none; }

  // The factor beyond which two projected times are in the right order; 0: not known.
  double ratio(record::ResidualModel model, record::Relation relation) const { return ratios_[model][relation]; }

 private:
  static constexpr std::size_t limiters = record::count_of<record::Limiter> + 1;
  static TestedOn untested() {
    TestedOn none;
    none.all.fill(record::Tested::none);
    return none;
  }
  static std::size_t place(record::ResidualModel model, std::optional<record::Limiter> limiter, record::Regime regime) {
    auto const of_limiter = limiter ? record::index_of(*limiter) + 1 : 0;
    return (record::index_of(model) * limiters + of_limiter) * record::count_of<record::Regime> +
           record::index_of(regime);
  }
  std::shared_ptr<std::vector<Factors> const>
      factors_;  // devices that have the same share them; none: nothing is known
  record::PerValue<record::ResidualModel, record::PerValue<record::Relation, double>> ratios_{};
  TestedOn tested_ = untested();
};

// The table of a database, resolved once for devices that have the same.
class ResidualTables {
 public:
  explicit ResidualTables(std::vector<record::Interval> rows);
  // `architectures`: of all devices, by slug.
  Residuals of(std::string const& device, std::map<std::string, std::string> const& architectures);

 private:
  std::vector<record::Interval> rows_;
  record::PerValue<record::ResidualModel, std::set<std::string, std::less<>>> measured_;  // devices
  std::map<std::pair<std::string, std::vector<record::Tested>>, Residuals> resolved_;
};

}  // namespace kernelcast::device
