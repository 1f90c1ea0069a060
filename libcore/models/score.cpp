#include "models/score.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <tuple>

#include "base/statistics/median.hpp"

namespace kernelcast::model {

namespace {

using record::Measured, record::Projection, record::Score;

struct Point {
  Measured const* measured = nullptr;
  double time_s = 0;                       // median of the repeats
  Projection const* projection = nullptr;  // of the model at hand; none: missing
};

struct Key {
  std::string kernel, case_name, device;
  auto operator<=>(Key const&) const = default;
};

using Points = std::map<Key, Point>;

Points points_of(std::vector<Measured> const& measured) {
  std::map<Key, std::vector<double>> repeats;
  Points points;
  for (auto const& m : measured) {
    if (!m.time_s) continue;
    Key const key{m.kernel, m.case_name, m.device};
    repeats[key].push_back(*m.time_s);
    points[key].measured = &m;
  }
  for (auto& [key, values] : repeats) points[key].time_s = median(values);
  return points;
}

std::string regime(double time_s) {
  return time_s < 10e-6 ? "< 10 us" : time_s < 100e-6 ? "10 to 100 us" : ">= 100 us";
}

std::string group_of(Point const& p, std::string const& by, ScoreOptions const& options) {
  if (by == "suite") return p.measured->suite;
  if (by == "program") return p.measured->program;
  if (by == "part") return p.measured->part;
  if (by == "device") return p.measured->device;
  if (by == "limiter") return p.projection ? p.projection->limiter.text() : "";
  if (by == "regime") return regime(p.time_s);
  auto const found = options.devices.find(p.measured->device);
  return found == options.devices.end() ? "" : found->second.architecture;
}

using Group = std::vector<Point const*>;

double percent_of(std::size_t part, std::size_t whole) {
  return 100 * static_cast<double>(part) / static_cast<double>(whole);
}

bool only_orders(std::string const& model) {
  return model.starts_with("order:");
}

class Mean {
 public:
  void add(double value) { sum_ += value, ++count_; }
  std::optional<double> value() const {
    return count_ > 0 ? std::optional(sum_ / static_cast<double>(count_)) : std::nullopt;
  }

 private:
  double sum_ = 0;
  std::size_t count_ = 0;
};

void score_errors(Score& row, Group const& group) {
  std::vector<double> errors, ratios;
  double logarithms = 0;
  std::size_t within_15 = 0, within_30 = 0, within_half = 0, covered = 0;
  for (auto const* p : group) {
    double const ratio = *p->projection->time_s / p->time_s;
    double const error = 100 * std::fabs(ratio - 1);
    errors.push_back(error);
    logarithms += std::log(ratio);
    within_15 += error <= 15;
    within_30 += error <= 30;
    within_half += ratio <= 1.5 && ratio >= 1 / 1.5;
    double const low = p->projection->time_low_s.value_or(*p->projection->time_s);
    double const high = p->projection->time_high_s.value_or(*p->projection->time_s);
    covered += low <= p->time_s && p->time_s <= high;
    ratios.push_back(low > 0 ? high / low : std::numeric_limits<double>::max());
  }
  auto const n = errors.size();
  if (n == 0) return;
  row.mean_error_pct = std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(n);
  row.median_error_pct = median(errors);
  row.bias_pct = 100 * (std::exp(logarithms / static_cast<double>(n)) - 1);
  row.within_15_pct = percent_of(within_15, n);
  row.within_30_pct = percent_of(within_30, n);
  row.within_half_pct = percent_of(within_half, n);
  row.of_all_within_30_pct = percent_of(within_30, n + row.missing);
  row.coverage_pct = percent_of(covered, n);
  row.interval_ratio = median(ratios);
}

int sign(double a, double b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

void score_order(Score& row, Group const& group, Orders const& orders) {
  std::map<std::pair<std::string, std::string>, Group> cases;
  for (auto const* p : group) cases[{p->measured->kernel, p->measured->case_name}].push_back(p);
  Mean tau, best_picked, penalty;
  std::size_t decided = 0, wrongly = 0;
  for (auto const& [key, devices] : cases) {
    if (devices.size() < 2) continue;
    ++row.cases;
    int pairs = 0, agreement = 0;
    for (std::size_t i = 0; i < devices.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        int const truth = sign(devices[i]->time_s, devices[j]->time_s);
        pairs += truth != 0;
        agreement += truth * sign(*devices[i]->projection->time_s, *devices[j]->projection->time_s);
      }
    if (pairs > 0) tau.add(static_cast<double>(agreement) / pairs);
    auto const sooner = [](auto const* a, auto const* b) { return *a->projection->time_s < *b->projection->time_s; };
    auto const* const chosen = *std::min_element(devices.begin(), devices.end(), sooner);
    auto const fastest = *std::min_element(devices.begin(), devices.end(),
                                           [](auto const* a, auto const* b) { return a->time_s < b->time_s; });
    Mean right_of_equals, penalty_of_equals;  // of devices with the same projected time each may be chosen
    for (auto const* p : devices) {
      if (sooner(chosen, p)) continue;
      right_of_equals.add(p->time_s == fastest->time_s);
      penalty_of_equals.add(100 * (p->time_s / fastest->time_s - 1));
    }
    best_picked.add(100 * *right_of_equals.value());
    penalty.add(*penalty_of_equals.value());
    bool const sure = std::none_of(devices.begin(), devices.end(), [&](auto const* other) {
      return other != chosen && !orders.decides(*chosen->projection, *other->projection);
    });
    decided += sure;
    wrongly += sure && chosen->time_s != fastest->time_s;
  }
  if (row.cases == 0) return;
  row.tau = tau.value();
  row.mean_penalty_pct = penalty.value();
  row.best_picked_pct = best_picked.value();
  if (only_orders(row.model)) return;
  row.decided_pct = percent_of(decided, row.cases);
  if (decided > 0) row.wrongly_decided_pct = percent_of(wrongly, decided);
}

void score_choice(Score& row, Group const& group) {
  std::map<std::tuple<std::string, std::string, std::string>, Group> problems;
  for (auto const* p : group)
    if (!p->measured->problem.empty())
      problems[{p->measured->suite, p->measured->problem, p->measured->device}].push_back(p);
  std::array<Mean, 3> regret;
  constexpr std::array<std::size_t, 3> tries{1, 5, 10};
  for (auto& [key, alternatives] : problems) {
    auto const first_s = *alternatives.front()->projection->time_s;
    if (std::all_of(alternatives.begin(), alternatives.end(),
                    [&](auto const* p) { return *p->projection->time_s == first_s; }))
      continue;  // one only, or no choice is made
    ++row.problems;
    std::sort(alternatives.begin(), alternatives.end(), [](auto const* a, auto const* b) {
      return std::tie(*a->projection->time_s, a->measured->kernel, a->measured->case_name) <
             std::tie(*b->projection->time_s, b->measured->kernel, b->measured->case_name);
    });
    double fastest = std::numeric_limits<double>::max(), so_far = fastest;
    for (auto const* p : alternatives) fastest = std::min(fastest, p->time_s);
    for (std::size_t i = 0, t = 0; t < tries.size(); ++i) {
      if (i < alternatives.size()) so_far = std::min(so_far, alternatives[i]->time_s);
      if (i + 1 == tries[t]) regret[t++].add(100 * (so_far / fastest - 1));
    }
  }
  row.regret_1_pct = regret[0].value();
  row.regret_5_pct = regret[1].value();
  row.regret_10_pct = regret[2].value();
}

Score score_group(std::string const& model, std::string by, std::string name, Group const& all, Orders const& orders) {
  Score row;
  row.model = model;
  row.by = std::move(by);
  row.group = std::move(name);
  Group known;
  for (auto const* p : all)
    if (p->projection) known.push_back(p);
  row.times = known.size();
  row.missing = all.size() - known.size();
  if (!only_orders(model)) score_errors(row, known);
  score_order(row, known, orders);
  score_choice(row, known);
  return row;
}

// Figures are compared by people: six decimals, and no zero below them.
void round_figures(std::vector<Score>& rows) {
  for (auto& row : rows)
    for (auto const& column : Score::schema().columns()) {
      if (column.type != record::FieldType::optional_number) continue;
      auto& value = *reinterpret_cast<std::optional<double>*>(reinterpret_cast<char*>(&row) + column.offset);
      if (value) *value = std::round(*value * 1e6) / 1e6 + 0.0;
    }
}

// The mean over rows of every figure that is a number; counts are added up.
Score mean_of(std::vector<Score> const& rows, std::string const& model) {
  Score out;
  out.model = model;
  out.by = "suites";
  out.group = "mean";
  for (auto const& column : Score::schema().columns()) {
    auto const field = [&](Score const& row) { return reinterpret_cast<char const*>(&row) + column.offset; };
    auto* const target = reinterpret_cast<char*>(&out) + column.offset;
    if (column.type == record::FieldType::integer)
      for (auto const& row : rows)
        *reinterpret_cast<std::uint64_t*>(target) += *reinterpret_cast<std::uint64_t const*>(field(row));
    if (column.type != record::FieldType::optional_number) continue;
    Mean mean;
    for (auto const& row : rows)
      if (auto const& value = *reinterpret_cast<std::optional<double> const*>(field(row))) mean.add(*value);
    *reinterpret_cast<std::optional<double>*>(target) = mean.value();
  }
  return out;
}

void score_model(std::vector<Score>& rows, std::string const& model, Points const& points,
                 ScoreOptions const& options) {
  std::map<std::string, Group> suites;
  Group all;
  for (auto const& [key, p] : points) {
    all.push_back(&p);
    suites[p.measured->suite].push_back(&p);
  }
  rows.push_back(score_group(model, "all", "", all, options.orders));
  std::vector<Score> of_suites;
  for (auto const& [name, group] : suites)
    of_suites.push_back(score_group(model, "suite", name, group, options.orders));
  if (suites.size() > 1) rows.push_back(mean_of(of_suites, model));
  for (auto const& by : options.by) {
    std::map<std::string, Group> groups;
    for (auto const& [key, p] : points) groups[group_of(p, by, options)].push_back(&p);
    for (auto const& [name, group] : groups) rows.push_back(score_group(model, by, name, group, options.orders));
  }
}

// Trivial models that need only the devices: a time for each point.
using Guess = std::function<double(Point const&)>;

void score_guess(std::vector<Score>& rows, std::string const& model, Points points, Guess const& guess,
                 ScoreOptions const& options) {
  std::deque<Projection> guessed;
  for (auto& [key, p] : points) {
    double const time_s = guess(p);
    if (!(time_s > 0)) continue;
    auto& projection = guessed.emplace_back();
    projection.time_s = time_s;
    p.projection = &projection;
  }
  score_model(rows, model, points, options);
}

void score_peaks(std::vector<Score>& rows, std::string const& model, Points const& points, ScoreOptions const& options,
                 std::function<double(KnownDevice const&)> const& peak) {
  auto const of = [&](Point const& p) {
    auto const found = options.devices.find(p.measured->device);
    return found == options.devices.end() ? 0 : peak(found->second);
  };
  if (std::all_of(points.begin(), points.end(), [&](auto const& point) { return of(point.second) > 0; }))
    score_guess(rows, model, points, [&](Point const& p) { return 1 / of(p); }, options);
}

void score_trivial(std::vector<Score>& rows, Points const& points, ScoreOptions const& options) {
  double logarithms = 0;
  for (auto const& [key, p] : points) logarithms += std::log(p.time_s);
  double const constant = std::exp(logarithms / static_cast<double>(points.size()));
  score_guess(rows, "trivial:constant", points, [&](Point const&) { return constant; }, options);
  score_peaks(rows, "order:peak_flops", points, options, [](auto const& d) { return d.peaks.flop_per_s; });
  score_peaks(rows, "order:peak_bandwidth", points, options, [](auto const& d) { return d.peaks.bytes_per_s; });
  score_peaks(rows, "order:measured_bandwidth", points, options, [](auto const& d) { return d.measured_bytes_per_s; });
  std::map<std::pair<std::string, std::string>, Point const*> fastest;
  for (auto const& [key, p] : points) {
    auto& best = fastest[{key.kernel, key.case_name}];
    if (!best || p.time_s < best->time_s) best = &p;
  }
  std::map<std::string, double> wins;
  for (auto const& [key, p] : fastest) ++wins[p->measured->device];
  score_guess(
      rows, "order:most_often_best", points, [&](Point const& p) { return 1 / (1 + wins[p.measured->device]); },
      options);
  std::mt19937_64 random(options.seed);
  score_guess(
      rows, "order:random", points, [&](Point const&) { return static_cast<double>(random() >> 1U) + 1; }, options);
}

// The points with each model's projections.
struct Matches {
  Matches(std::vector<Projection> const& projections, Points const& points) : totals(total(projections).rows) {
    std::map<std::string, std::map<Key, Projection const*>> models_times;
    for (auto const& p : projections) {
      auto& times = models_times[p.model];
      if (p.time_s) times[{p.kernel, p.case_name, p.device}] = &p;
    }
    for (auto const& p : totals) models_times[p.model].try_emplace({p.kernel, p.case_name, p.device}, &p);
    for (auto const& [model, times] : models_times) {
      auto& of_model = models[model] = points;
      for (auto& [key, p] : of_model)
        if (auto const found = times.find(key); found != times.end()) p.projection = found->second;
    }
  }
  Matches(Matches const&) = delete;
  Matches& operator=(Matches const&) = delete;

  std::vector<Projection> totals;
  std::map<std::string, Points> models;
};

}  // namespace

std::vector<record::Comparison> compare_times(std::vector<Projection> const& projections,
                                              std::vector<Measured> const& measured) {
  std::vector<record::Comparison> rows;
  Matches const matches(projections, points_of(measured));
  for (auto const& [model, points] : matches.models)
    for (auto const& [key, p] : points) {
      if (!p.projection) continue;
      auto& row = rows.emplace_back();
      static_cast<Projection&>(row) = *p.projection;
      row.measured_s = p.time_s;
      row.error_pct = 100 * std::fabs(*p.projection->time_s / p.time_s - 1);
      row.suite = p.measured->suite;
      row.program = p.measured->program;
      row.part = p.measured->part;
      row.regime = regime(p.time_s);
    }
  return rows;
}

std::vector<std::string> const& score_groups() {
  static std::vector<std::string> const names{"suite",        "program", "part",  "device",
                                              "architecture", "limiter", "regime"};
  return names;
}

std::vector<Score> score(std::vector<Projection> const& projections, std::vector<Measured> const& measured,
                         ScoreOptions const& options) {
  auto const points = points_of(measured);
  std::vector<Score> rows;
  if (points.empty()) return rows;
  Matches const matches(projections, points);
  for (auto const& [model, of_model] : matches.models) score_model(rows, model, of_model, options);
  score_trivial(rows, points, options);
  round_figures(rows);
  return rows;
}

}  // namespace kernelcast::model
