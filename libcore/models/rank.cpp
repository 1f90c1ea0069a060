#include "models/rank.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>

#include "base/statistics/median.hpp"

namespace kernelcast::model {

namespace {

struct CaseKey {
  std::string model, kernel, case_name;
  auto operator<=>(CaseKey const&) const = default;
};

using DeviceRows = std::vector<record::Projection const*>;

// A case's projections with times, one for each device, in the order of the devices.
struct OneCase {
  CaseKey key;
  DeviceRows devices;
};

// Calls `body` with each case, in the order of the keys.
template <class Body>
void for_each_case(std::vector<record::Projection> const& projections, Body body, Together together = Together::model) {
  DeviceRows rows;
  for (auto const& p : projections)
    if (p.time_s) rows.push_back(&p);
  std::string const all;
  auto const case_of = [&](record::Projection const& p) {
    return std::tie(together == Together::all ? all : p.model, p.kernel, p.case_name);
  };
  std::sort(rows.begin(), rows.end(), [&](auto const* a, auto const* b) {
    return std::tuple_cat(case_of(*a), std::tie(a->device, a)) < std::tuple_cat(case_of(*b), std::tie(b->device, b));
  });
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    auto const& first = *rows[begin];
    OneCase of{{together == Together::all ? all : first.model, first.kernel, first.case_name}, {}};
    for (; end < rows.size() && case_of(*rows[end]) == case_of(first); ++end) {
      if (!of.devices.empty() && of.devices.back()->device == rows[end]->device) of.devices.pop_back();
      of.devices.push_back(rows[end]);
    }
    body(std::as_const(of));
  }
}

// Devices by time, then by name.
DeviceRows by_time(DeviceRows order) {
  std::sort(order.begin(), order.end(), [](auto const* a, auto const* b) {
    return std::tie(*a->time_s, a->device) < std::tie(*b->time_s, b->device);
  });
  return order;
}

}  // namespace

bool intervals_overlap(record::Projection const& a, record::Projection const& b) {
  return a.time_low_s.value_or(*a.time_s) <= b.time_high_s.value_or(*b.time_s) &&
         b.time_low_s.value_or(*b.time_s) <= a.time_high_s.value_or(*a.time_s);
}

Orders::Orders(std::vector<device::Device const*> const& devices) {
  for (auto const* const device : devices) devices_[device->device] = device;
}

bool Orders::decides(record::Projection const& a, record::Projection const& b) const {
  bool const copies = a.limiter == record::Limiter::transfer || b.limiter == record::Limiter::transfer;
  if (copies) return !intervals_overlap(a, b);
  auto const one = devices_.find(a.device), other = devices_.find(b.device);
  auto const model = record::value_named<record::ResidualModel>(a.model),
             other_model = record::value_named<record::ResidualModel>(b.model);
  if (one != devices_.end() && other != devices_.end() && model && other_model) {
    auto const &x = *one->second, &y = *other->second;
    auto const relation = device::relation_of(x.vendor, x.architecture, y.vendor, y.architecture);
    double const factor = x.residuals.ratio(*model, relation), same = x.residuals.ratio(*other_model, relation);
    if (factor > 0 && same > 0)
      return std::max(*a.time_s, *b.time_s) > std::max(factor, same) * std::min(*a.time_s, *b.time_s);
  }
  return !intervals_overlap(a, b);
}

std::vector<record::Projection> prefer(std::vector<record::Projection> const& projections,
                                       std::vector<std::string> const& models) {
  auto const place = [&](std::string const& model) {
    return static_cast<std::size_t>(std::find(models.begin(), models.end(), model) - models.begin());
  };
  using Key = std::tuple<std::string, std::string, std::string>;
  auto const key_of = [](record::Projection const& p) { return Key{p.kernel, p.case_name, p.device}; };
  std::map<Key, std::map<std::size_t, bool>> complete;  // by place: whether all rows have times
  for (auto const& p : projections) {
    bool& all = complete[key_of(p)].try_emplace(place(p.model), true).first->second;
    all = all && p.time_s;
  }
  std::vector<record::Projection> out;
  for (auto const& p : projections) {
    auto const& of_models = complete.at(key_of(p));
    auto const first = std::find_if(of_models.begin(), of_models.end(), [](auto const& m) { return m.second; });
    if (place(p.model) == (first == of_models.end() ? of_models.rbegin()->first : first->first)) out.push_back(p);
  }
  return out;
}

void rank(std::vector<record::Projection> const& projections, Together together, Orders const& orders,
          std::function<void(record::Ranking const&)> const& sink) {
  auto const rank_case = [&](OneCase const& of) {
    auto const order = by_time(of.devices);
    auto const& best = *order.front();
    bool const choice_decided =
        std::none_of(order.begin() + 1, order.end(), [&](auto const* other) { return !orders.decides(best, *other); });
    std::uint64_t rank = 1;
    for (std::size_t i = 0; i < order.size(); ++i) {
      auto const& p = *order[i];
      if (i > 0 && *p.time_s != *order[i - 1]->time_s) rank = i + 1;
      sink({p.model, p.kernel, p.case_name, rank, p.device, *p.time_s, *p.time_s / *best.time_s,
            i == 0 ? choice_decided : orders.decides(best, p), p.limiter, p.time_low_s, p.time_high_s});
    }
  };
  for_each_case(projections, rank_case, together);
}

std::vector<record::Ranking> rank(std::vector<record::Projection> const& projections, Together together,
                                  Orders const& orders) {
  std::vector<record::Ranking> rows;
  rank(projections, together, orders, [&](record::Ranking const& row) { rows.push_back(row); });
  return rows;
}

std::vector<record::Share> share(std::vector<record::Projection> const& projections) {
  std::vector<record::Share> rows;
  for_each_case(projections, [&](OneCase const& of) {
    // Speeds relative to the fastest: 1/time itself overflows for the smallest times.
    double const best = *by_time(of.devices).front()->time_s;
    double total = 0;
    for (auto const* const p : of.devices) total += best / *p->time_s;
    for (auto const* const p : of.devices)
      rows.push_back({p->model, p->kernel, p->case_name, p->device, best / *p->time_s / total});
  });
  return rows;
}

namespace {

using Times = std::map<std::string, double>;  // by device

std::map<std::pair<std::string, std::string>, Times> measured_times(std::vector<record::Measured> const& measured) {
  std::map<std::pair<std::string, std::string>, std::map<std::string, std::vector<double>>> repeats;
  for (auto const& m : measured)
    if (m.time_s) repeats[{m.kernel, m.case_name}][m.device].push_back(*m.time_s);
  std::map<std::pair<std::string, std::string>, Times> times;
  for (auto& [key, devices] : repeats)
    for (auto& [device, values] : devices) times[key][device] = median(values);
  return times;
}

std::string fastest(Times const& times) {
  return std::min_element(times.begin(), times.end(), [](auto const& a, auto const& b) { return a.second < b.second; })
      ->first;
}

double length(Times const& times) {
  double largest = 0, sum = 0;
  for (auto const& [device, t] : times) largest = std::max(largest, t);
  for (auto const& [device, t] : times) sum += (t / largest) * (t / largest);
  return largest * std::sqrt(sum);
}

// [panwar] V: |t/|t| - p/|p|| / sqrt(2); 0 for proportional times, below 1 for any positive ones.
double relative_error(Times const& measured, Times const& projected) {
  double const measured_length = length(measured), projected_length = length(projected);
  double sum = 0;
  for (auto const& [device, t] : measured) {
    double const difference = t / measured_length - projected.at(device) / projected_length;
    sum += difference * difference;
  }
  return std::sqrt(sum) / std::numbers::sqrt2;
}

double penalty(Times const& measured, std::string const& chosen) {
  double const best = measured.at(fastest(measured));
  return (measured.at(chosen) - best) / best;
}

struct Comparison {
  Times measured, projected;  // the same devices in both, at least two
};

struct Comparisons {
  std::map<CaseKey, Comparison> cases;
  std::size_t too_few = 0, measured_not_projected = 0;
};

Comparisons compare(std::vector<record::Projection> const& projections, std::vector<record::Measured> const& measured) {
  auto const all_measured = measured_times(measured);
  Comparisons comparisons;
  for_each_case(projections, [&](OneCase const& of) {
    Comparison both;
    auto const found = all_measured.find({of.key.kernel, of.key.case_name});
    if (found != all_measured.end())
      for (auto const* const p : of.devices)
        if (auto const time = found->second.find(p->device); time != found->second.end()) {
          both.measured[p->device] = time->second;
          both.projected[p->device] = *p->time_s;
        }
    if (both.measured.size() < 2) {
      ++comparisons.too_few;
      return;
    }
    comparisons.measured_not_projected += found->second.size() - both.measured.size();
    comparisons.cases.emplace(of.key, std::move(both));
  });
  return comparisons;
}

}  // namespace

Assessments assess(std::vector<record::Projection> const& projections, std::vector<record::Measured> const& measured) {
  auto const comparisons = compare(projections, measured);
  Assessments out;
  out.too_few = comparisons.too_few;
  out.measured_not_projected = comparisons.measured_not_projected;
  for (auto const& [key, both] : comparisons.cases) {
    auto const chosen = fastest(both.projected);
    out.rows.push_back({key.model, key.kernel, key.case_name, chosen, fastest(both.measured),
                        100 * penalty(both.measured, chosen), 100 * relative_error(both.measured, both.projected)});
  }
  return out;
}

namespace {

class Means {
 public:
  void add(Times const& measured, std::string const& chosen) {
    double const lost = 100 * penalty(measured, chosen);
    ++cases_;
    best_ += lost == 0;
    penalties_ += lost;
    worst_ = std::max(worst_, lost);
  }
  void add(Times const& measured, Times const& projected) {
    add(measured, fastest(projected));
    errors_ += 100 * relative_error(measured, projected);
    has_times_ = true;
  }
  record::AssessmentSummary row(std::string model) const {
    auto const n = static_cast<double>(cases_);
    record::AssessmentSummary out{std::move(model), cases_, 100 * static_cast<double>(best_) / n,
                                  penalties_ / n,   worst_, {}};
    if (has_times_) out.mean_relative_error_pct = errors_ / n;
    return out;
  }

 private:
  std::uint64_t cases_ = 0, best_ = 0;
  double penalties_ = 0, worst_ = 0, errors_ = 0;
  bool has_times_ = false;
};

// The measured times of all cases that any model was assessed on, over all devices that any model projected.
std::map<std::pair<std::string, std::string>, Times> assessed_times(Comparisons const& comparisons) {
  std::map<std::pair<std::string, std::string>, Times> times;
  for (auto const& [key, both] : comparisons.cases)
    times[{key.kernel, key.case_name}].insert(both.measured.begin(), both.measured.end());
  return times;
}

template <class Peak>
void add_peak(std::vector<record::AssessmentSummary>& rows, std::string const& name,
              std::map<std::pair<std::string, std::string>, Times> const& cases,
              std::map<std::string, Peaks> const& peaks, Peak peak) {
  Means means;
  for (auto const& [key, measured] : cases) {
    Times projected;
    for (auto const& [device, time] : measured) {
      auto const known = peaks.find(device);
      if (known == peaks.end() || !(peak(known->second) > 0)) return;
      projected[device] = 1 / peak(known->second);
    }
    means.add(measured, projected);
  }
  rows.push_back(means.row(name));
}

void add_most_often_best(std::vector<record::AssessmentSummary>& rows,
                         std::map<std::pair<std::string, std::string>, Times> const& cases) {
  std::map<std::string, std::size_t> wins;
  for (auto const& [key, measured] : cases) ++wins[fastest(measured)];
  Means means;
  for (auto const& [key, measured] : cases) {
    auto const more_wins = [&](auto const& a, auto const& b) {
      auto const count = [&](std::string const& device) { return wins.contains(device) ? wins.at(device) : 0; };
      return count(a.first) < count(b.first);
    };
    means.add(measured, std::max_element(measured.begin(), measured.end(), more_wins)->first);
  }
  rows.push_back(means.row("trivial:most_often_best"));
}

}  // namespace

std::vector<record::AssessmentSummary> summarise(std::vector<record::Projection> const& projections,
                                                 std::vector<record::Measured> const& measured,
                                                 std::map<std::string, Peaks> const& peaks) {
  auto const comparisons = compare(projections, measured);
  std::map<std::string, Means> models;
  for (auto const& [key, both] : comparisons.cases) models[key.model].add(both.measured, both.projected);
  std::vector<record::AssessmentSummary> rows;
  for (auto const& [model, means] : models) rows.push_back(means.row(model));
  if (rows.empty()) return rows;
  auto const cases = assessed_times(comparisons);
  add_peak(rows, "trivial:peak_flops", cases, peaks, [](Peaks const& p) { return p.flop_per_s; });
  add_peak(rows, "trivial:peak_bandwidth", cases, peaks, [](Peaks const& p) { return p.bytes_per_s; });
  add_most_often_best(rows, cases);
  return rows;
}

}  // namespace kernelcast::model
