#include "models/calibration.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "base/statistics/median.hpp"
#include "models/score.hpp"

namespace kernelcast::model {

using device::Cell;
using record::Interval, record::Limiter, record::Ratio, record::Relation, record::ResidualModel, record::Tested;

namespace {

using Program = std::pair<std::string, std::string>;  // of a suite

// Numbers for values, in the order in which they come.
template <class T>
class Numbers {
 public:
  std::size_t of(T const& value) { return numbers_.try_emplace(value, numbers_.size()).first->second; }
  std::size_t count() const { return numbers_.size(); }
  std::vector<T> values() const {
    std::vector<T> out(numbers_.size());
    for (auto const& [value, number] : numbers_) out[number] = value;
    return out;
  }

 private:
  std::map<T, std::size_t> numbers_;
};

// Of a residual or of a pair of them: what is left out together, what counts alike.
struct Origin {
  std::size_t suite = 0, program = 0;  // of all suites
};

// Suites count alike, in a suite its programs, in a program its members: how much each does of so many origins. A suite
// of fewer programs than `whole` counts by their number, so that one of few does not outweigh the programs of the
// others.
class Weights {
 public:
  template <class List>
  explicit Weights(List const& members, std::size_t whole = 1) : whole_(static_cast<double>(whole)) {
    for (auto const& m : members) add(m.origin);
    for (double const programs : programs_of_suite_) suites_ += std::min(1.0, programs / whole_);
  }
  double of(Origin o) const {
    return 1 / (suites_ * std::max(whole_, programs_of_suite_[o.suite]) * members_[o.program]);
  }
  std::size_t programs() const { return programs_; }

 private:
  void add(Origin o) {
    if (o.suite >= programs_of_suite_.size()) programs_of_suite_.resize(o.suite + 1);
    if (o.program >= members_.size()) members_.resize(o.program + 1);
    if (members_[o.program]++ > 0) return;
    ++programs_;
    ++programs_of_suite_[o.suite];
  }
  double whole_, suites_ = 0;
  std::size_t programs_ = 0;
  std::vector<double> programs_of_suite_, members_;
};

// Of n exchangeable groups and one more: the level at which that one is inside with the nominal probability.
double corrected(double nominal, std::size_t n) {
  return std::min(1.0, nominal * (1 + 1 / static_cast<double>(n)));
}

// ---------------------------------------------------------------- cells

struct Item {
  Residual const* residual;
  Origin origin;
  std::size_t device, architecture;
  std::array<std::size_t, 5> chain;  // numbers of cells
};

// The residuals of one model, in their order.
struct Sample {
  std::vector<Item> items;
  std::vector<Cell> cells;
  std::vector<std::string> suites;
};

Sample sample_of(std::vector<Residual> const& all, ResidualModel model) {
  Sample out;
  Numbers<std::string> suites, devices, architectures;
  Numbers<Program> programs;
  Numbers<Cell> cells;
  for (auto const& r : all) {
    if (r.model != model || r.is_substitute) continue;
    auto& item = out.items.emplace_back();
    item.residual = &r;
    item.origin = {suites.of(r.suite), programs.of({r.suite, r.program})};
    item.device = devices.of(r.device);
    item.architecture = architectures.of(r.architecture);
    auto const chain = device::cell_chain({r.architecture, r.limiter, record::regime_of(r.limiter, r.time_s)});
    for (std::size_t i = 0; i < chain.size(); ++i) item.chain[i] = cells.of(chain[i]);
  }
  std::sort(out.items.begin(), out.items.end(), [](auto const& a, auto const& b) {
    return std::tie(a.residual->log, a.origin.program) < std::tie(b.residual->log, b.origin.program);
  });
  out.cells = cells.values();
  out.suites = suites.values();
  return out;
}

struct Ends {
  bool known = false;
  double low = 0, high = 0;  // logarithms
  std::size_t programs = 0, times = 0;
};

void draw_to_broader(std::vector<Cell> const& cells, CalibrationOptions const& options, std::vector<Ends>& all) {
  std::map<Cell, std::size_t> known;
  for (std::size_t c = 0; c < cells.size(); ++c)
    if (all[c].known) known[cells[c]] = c;
  std::set<std::size_t> done;
  std::function<Ends const&(std::size_t)> const drawn = [&](std::size_t c) -> Ends const& {
    auto& ends = all[c];
    if (!done.insert(c).second) return ends;
    // The projection itself is inside.
    ends.low = std::min(0.0, ends.low);
    ends.high = std::max(0.0, ends.high);
    auto const chain = device::cell_chain(cells[c]);
    auto const next = std::find_if(chain.begin(), chain.end(),
                                   [&](Cell const& cell) { return cell != cells[c] && known.contains(cell); });
    if (next == chain.end()) return ends;
    auto const& broader = drawn(known.at(*next));
    double const own = static_cast<double>(ends.programs) / (static_cast<double>(ends.programs) + options.broader);
    ends.low = std::lerp(broader.low, ends.low, own);
    ends.high = std::lerp(broader.high, ends.high, own);
    return ends;
  };
  for (auto const& [cell, c] : known) drawn(c);
  for (auto const& [cell, c] : known) all[c].low -= options.repeat, all[c].high += options.repeat;
}

// By number; of the items that `counts` holds of.
template <class Counts>
std::vector<Ends> ends_of(Sample const& sample, CalibrationOptions const& options, Counts const& counts) {
  struct Member {
    double log;
    Origin origin;
  };
  std::vector<std::vector<Member>> members(sample.cells.size());
  for (auto const& item : sample.items) {
    if (!counts(item)) continue;
    for (std::size_t i = 0; i < item.chain.size(); ++i)  // without a limiter, cells of the chain are the same
      if (std::find(item.chain.begin(), item.chain.begin() + i, item.chain[i]) == item.chain.begin() + i)
        members[item.chain[i]].push_back({item.residual->log, item.origin});
  }
  double const tail = (1 - options.quantile) / 2 * (1 - 1e-12);
  std::vector<Ends> out(sample.cells.size());
  for (std::size_t c = 0; c < members.size(); ++c) {
    auto const& list = members[c];
    Weights const weights(list, options.min_kernels);
    auto& ends = out[c];
    ends.known = !list.empty() && (weights.programs() >= options.min_kernels || sample.cells[c] == Cell{});
    if (!ends.known) continue;
    ends.programs = weights.programs();
    ends.times = list.size();
    // The outermost residuals beyond which there is less than the tail.
    double sum = 0;
    for (auto m = list.begin(); m != list.end(); ++m) {
      ends.low = m->log;
      if ((sum += weights.of(m->origin)) >= tail) break;
    }
    sum = 0;
    for (auto m = list.rbegin(); m != list.rend(); ++m) {
      ends.high = m->log;
      if ((sum += weights.of(m->origin)) >= tail) break;
    }
  }
  draw_to_broader(sample.cells, options, out);
  return out;
}

// A residual and the ends that are made without it.
struct Trial {
  Item const* item;
  Origin origin;
  double low, high;
  double log() const { return item->residual->log; }
  // How far the ends must be drawn out for it to be inside.
  double factor() const { return log() < 0 ? log() / low : log() / high; }
};

// What is left out besides an item's program, as a number.
std::size_t left_out_besides(Tested tested, Item const& item) {
  return tested == Tested::device ? 0 : tested == Tested::architecture ? item.device : item.architecture;
}

std::vector<Trial> trials_of(Sample const& sample, Tested tested, CalibrationOptions const& options) {
  std::map<std::pair<std::size_t, std::size_t>, std::vector<Item const*>> groups;
  for (auto const& item : sample.items) groups[{item.origin.program, left_out_besides(tested, item)}].push_back(&item);
  std::vector<Trial> out;
  for (auto const& [key, group] : groups) {
    auto const ends = ends_of(sample, options, [&, left_out = key](Item const& item) {
      return item.origin.program != left_out.first &&
             (tested == Tested::device || left_out_besides(tested, item) != left_out.second);
    });
    for (auto const* item : group)
      for (auto const cell : item->chain)
        if (ends[cell].known) {
          out.push_back({item, item->origin, ends[cell].low, ends[cell].high});
          break;
        }
  }
  std::sort(out.begin(), out.end(), [](auto const& a, auto const& b) { return a.factor() < b.factor(); });
  return out;
}

// The least factor at which so much of the trials is inside, in order of their factors.
double factor_at(std::vector<Trial> const& trials, double nominal) {
  Weights const weights(trials);
  double const level = corrected(nominal, weights.programs()) * (1 - 1e-12);
  double sum = 0;
  for (auto const& t : trials)
    if ((sum += weights.of(t.origin)) >= level) return t.factor();
  return trials.empty() ? 0 : trials.back().factor();
}

// By how much the ends of all cells are drawn out, from the trials that `counts` holds of.
template <class Counts>
double factor_of(std::vector<Trial> const& trials, CalibrationOptions const& options, Counts const& counts) {
  std::vector<Trial> all;
  std::map<std::size_t, std::vector<Trial>> suites;
  for (auto const& t : trials)
    if (counts(t)) all.push_back(t), suites[t.origin.suite].push_back(t);
  double out = factor_at(all, options.nominal);
  for (auto const& [suite, own] : suites)
    if (Weights(own).programs() >= options.min_kernels) out = std::max(out, factor_at(own, options.least));
  return out;
}

// ---------------------------------------------------------------- pairs

struct Pair {
  Origin origin;
  Relation relation{};
  double measured = 0, projected = 0;  // logarithms of the first device's time over the second's
  double residual() const { return std::fabs(measured - projected); }
  bool is_wrong() const { return measured * projected < 0; }
};

// In the order of their residuals.
struct Pairs {
  std::vector<Pair> all;
  std::vector<std::string> suites;
};

Pairs pairs_of(std::vector<Residual> const& all, ResidualModel model) {
  Numbers<std::string> suites;
  Numbers<Program> programs;
  std::map<std::tuple<Program, std::string, std::string>, std::vector<Residual const*>> cases;
  for (auto const& r : all)
    if (r.model == model) cases[{{r.suite, r.program}, r.kernel, r.case_name}].push_back(&r);
  Pairs out;
  for (auto const& [key, devices] : cases)
    for (std::size_t i = 0; i < devices.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        auto const &a = *devices[i], &b = *devices[j];
        double const projected = std::log(a.time_s) - std::log(b.time_s);
        out.all.push_back({{suites.of(a.suite), programs.of({a.suite, a.program})},
                           device::relation_of(a.vendor, a.architecture, b.vendor, b.architecture),
                           projected + a.log - b.log,
                           projected});
      }
  std::sort(out.all.begin(), out.all.end(), [](auto const& a, auto const& b) { return a.residual() < b.residual(); });
  out.suites = suites.values();
  return out;
}

struct Bound {
  double log = 0;  // 0: not known
  std::size_t programs = 0, pairs = 0;
};
using Bounds = record::PerValue<Relation, Bound>;

template <class Counts>
Bounds bounds_of(std::vector<Pair> const& pairs, CalibrationOptions const& options, Counts const& counts) {
  Bounds out;
  double least = 0;
  for (auto const relation : record::values_of<Relation>) {
    std::vector<Pair> own;
    for (auto const& p : pairs)
      if (p.relation == relation && counts(p)) own.push_back(p);
    Weights const weights(own);
    auto& bound = out[relation];
    bound.programs = weights.programs();
    bound.pairs = own.size();
    if (bound.programs >= options.min_kernels_of_pairs) {
      double const level = options.decided * (1 - 1e-12);
      double sum = 0, from = 0;
      for (auto const& p : own) {
        from = p.residual();
        if ((sum += weights.of(p.origin)) >= level) break;
      }
      least = std::max(least, from);
    }
    bound.log = least;
  }
  return out;
}

struct Decisions {
  double pairs = 0, decided = 0, all_decided = 0, wrong = 0;
  std::size_t count = 0;
};

// Of each suite, programs counting alike.
std::map<std::string, Decisions> decisions_of(Pairs const& pairs, CalibrationOptions const& options) {
  std::map<std::size_t, std::vector<Pair const*>> programs;
  for (auto const& p : pairs.all) programs[p.origin.program].push_back(&p);
  std::map<std::string, Decisions> out;
  for (auto const& [program, own] : programs) {
    auto const bounds =
        bounds_of(pairs.all, options, [left_out = program](Pair const& p) { return p.origin.program != left_out; });
    auto& d = out[pairs.suites[own.front()->origin.suite]];
    double const each = 1 / static_cast<double>(own.size());
    for (auto const* p : own) {
      double const bound = bounds[p->relation].log;
      bool const is_decided = bound > 0 && std::fabs(p->projected) > bound;
      bool const apart = std::fabs(p->measured) > std::log(1.25);
      d.count += apart;
      d.pairs += apart ? each : 0;
      d.decided += apart && is_decided ? each : 0;
      d.all_decided += is_decided ? each : 0;
      d.wrong += is_decided && p->is_wrong() ? each : 0;
    }
  }
  return out;
}

void set_decisions(record::Coverage& row, Decisions const& d) {
  row.pairs = d.count;
  if (d.pairs > 0) row.decided_pct = 100 * d.decided / d.pairs;
  if (d.all_decided > 0) row.wrong_pct = 100 * d.wrong / d.all_decided;
}

constexpr double steps = 1000;  // factors are rounded outwards to so many of 1

constexpr record::PerValue<Tested, char const*> left_out{{"kernels", "devices", "architectures"}};

using FactorsWithout = std::map<std::size_t, double>;  // by program that is left out

record::Coverage coverage_of(std::vector<Trial> const& trials, FactorsWithout const& without) {
  std::map<std::size_t, std::array<double, 3>> programs;  // times, inside, below
  std::vector<double> widths;
  record::Coverage row;
  for (auto const& t : trials) {
    auto const factor = without.at(t.origin.program);
    auto& [times, inside, below] = programs[t.origin.program];
    double const low = t.low * factor, high = t.high * factor;
    ++times;
    inside += low <= t.log() && t.log() <= high;
    below += t.log() < low;
    widths.push_back(high - low);
  }
  for (auto const& [program, counts] : programs) {
    row.coverage_pct += 100 * counts[1] / counts[0] / static_cast<double>(programs.size());
    row.below_pct += 100 * counts[2] / counts[0] / static_cast<double>(programs.size());
  }
  row.kernels = programs.size();
  row.times = trials.size();
  row.interval_ratio = std::exp(median(widths));
  return row;
}

// The projection is what the queue takes from panwar.
bool is_substituted(ResidualModel model, device::Device const& device) {
  return (model == ResidualModel::queue || model == ResidualModel::queue_launches) && device.pipes.empty();
}

}  // namespace

std::vector<Residual> residuals(std::vector<record::Projection> const& projections,
                                std::vector<record::Measured> const& measured, device::DeviceDatabase const& database) {
  static std::map<std::string, ResidualModel, std::less<>> const models{
      {"queue", ResidualModel::queue_launches},
      {"queue+others' launches", ResidualModel::queue},
      {"panwar", ResidualModel::panwar},
      {"panwar+launches", ResidualModel::panwar_launches},
      {"ake", ResidualModel::ake},
      {"ake+launches", ResidualModel::ake_launches}};
  std::map<std::string, device::Device const*> devices;
  for (auto const& d : database.devices()) devices[d.device] = &d;
  auto const rows = compare_times(projections, measured);
  std::set<std::string> has_others_launches;  // suites
  for (auto const& row : rows)
    if (row.model == "queue+others' launches") has_others_launches.insert(row.suite);
  std::vector<Residual> out;
  for (auto const& row : rows) {
    auto const model = models.find(row.model);
    auto const device = devices.find(row.device);
    if (model == models.end() || device == devices.end() || !row.time_s) continue;
    auto const& d = *device->second;
    Residual r{model->second,
               row.suite,
               row.program.empty() ? row.kernel : row.program,
               row.kernel,
               row.case_name,
               row.device,
               d.architecture,
               d.vendor,
               record::value_named<Limiter>(row.limiter.text()),
               *row.time_s,
               std::log(row.measured_s / *row.time_s),
               is_substituted(model->second, d)};
    out.push_back(r);
    if (r.model != ResidualModel::queue_launches || has_others_launches.contains(r.suite)) continue;
    r.model = ResidualModel::queue;
    out.push_back(std::move(r));
  }
  return out;
}

std::vector<Interval> intervals(std::vector<Residual> const& all, CalibrationOptions const& options) {
  std::vector<Interval> out;
  for (auto const model : record::values_of<ResidualModel>) {
    auto const sample = sample_of(all, model);
    if (sample.items.empty()) continue;
    auto const everything = [](auto const&) { return true; };
    auto const ends = ends_of(sample, options, everything);
    std::map<Cell, std::size_t> cells;  // in their order
    for (std::size_t c = 0; c < sample.cells.size(); ++c)
      if (ends[c].known) cells[sample.cells[c]] = c;
    std::vector<std::set<std::string>> devices(sample.cells.size());
    for (auto const& item : sample.items)
      for (auto const cell : item.chain) devices[cell].insert(item.residual->device);
    double factor = 0;
    for (auto const tested : record::values_of<Tested>) {
      // To know less is no gain.
      factor = std::max(factor, factor_of(trials_of(sample, tested, options), options, everything));
      for (auto const& [cell, c] : cells) {
        if (tested == Tested::none && !cell.architecture.empty()) continue;
        Interval row;
        row.model = model;
        row.tested = tested;
        row.architecture = cell.architecture;
        row.limiter = cell.limiter;
        row.regime = cell.regime;
        row.kernels = ends[c].programs;
        row.times = ends[c].times;
        for (auto const& device : devices[c]) row.devices += (row.devices.empty() ? "" : ";") + device;
        double const low = std::exp(ends[c].low * factor);
        row.low = low < 1 / steps ? low : std::floor(low * steps) / steps;
        row.high = std::ceil(std::exp(ends[c].high * factor) * steps) / steps;
        out.push_back(std::move(row));
      }
    }
  }
  return out;
}

std::optional<device::Factors> factors_of(std::vector<Residual> const& residuals, CalibrationOptions const& options) {
  auto all = residuals;
  for (auto& r : all) r.model = ResidualModel::queue;
  auto const sample = sample_of(all, ResidualModel::queue);
  auto const programs = Weights(sample.items).programs();
  double const level = (1 + options.nominal) / 2 * (1 + 1 / static_cast<double>(std::max<std::size_t>(1, programs)));
  if (programs == 0 || level > 1 + 1e-12) return std::nullopt;
  auto corrected_options = options;
  corrected_options.quantile = 2 * std::min(1.0, level) - 1;
  corrected_options.repeat = corrected_options.broader = 0;
  corrected_options.min_kernels = 1;
  auto const ends = ends_of(sample, corrected_options, [](auto const&) { return true; });
  for (std::size_t c = 0; c < ends.size(); ++c)
    if (sample.cells[c] == Cell{}) return device::Factors{std::exp(ends[c].low), std::exp(ends[c].high)};
  return std::nullopt;
}

std::vector<Ratio> ratios(std::vector<Residual> const& all, CalibrationOptions const& options) {
  std::vector<Ratio> out;
  for (auto const model : record::values_of<ResidualModel>) {
    auto const pairs = pairs_of(all, model);
    auto const bounds = bounds_of(pairs.all, options, [](Pair const&) { return true; });
    for (auto const relation : record::values_of<Relation>) {
      auto const& b = bounds[relation];
      if (b.log <= 0) continue;
      Ratio row;
      row.model = model;
      row.relation = relation;
      row.kernels = b.programs;
      row.pairs = b.pairs;
      row.factor = std::ceil(std::exp(b.log) * steps) / steps;
      out.push_back(std::move(row));
    }
  }
  return out;
}

std::vector<record::Coverage> coverage(std::vector<Residual> const& all, CalibrationOptions const& options) {
  std::vector<record::Coverage> out;
  for (auto const model : record::values_of<ResidualModel>) {
    auto const sample = sample_of(all, model);
    if (sample.items.empty()) continue;
    auto const decisions = decisions_of(pairs_of(all, model), options);
    for (auto const tested : record::values_of<Tested>) {
      auto const trials = trials_of(sample, tested, options);
      if (trials.empty()) continue;
      std::map<std::string, std::vector<Trial>> suites;
      FactorsWithout without;
      for (auto const& t : trials) {
        suites[t.item->residual->suite].push_back(t);
        auto const program = t.origin.program;
        if (!without.contains(program))
          without[program] =
              factor_of(trials, options, [&](Trial const& other) { return other.origin.program != program; });
      }
      record::Coverage mean;
      mean.model = model;
      mean.left_out = left_out[tested];
      mean.suite = "mean";
      mean.interval_ratio = 0;
      Decisions whole;  // each suite counts alike
      for (auto const& [suite, own] : suites) {
        auto row = coverage_of(own, without);
        row.model = model;
        row.left_out = left_out[tested];
        row.suite = suite;
        if (auto const d = decisions.find(suite); tested == Tested::device && d != decisions.end()) {
          set_decisions(row, d->second);
          whole.count += d->second.count;
          whole.pairs += 1, whole.decided += d->second.pairs > 0 ? d->second.decided / d->second.pairs : 0;
          whole.all_decided += 1,
              whole.wrong += d->second.all_decided > 0 ? d->second.wrong / d->second.all_decided : 0;
        }
        auto const part = 1 / static_cast<double>(suites.size());
        mean.kernels += row.kernels, mean.times += row.times;
        mean.coverage_pct += part * row.coverage_pct, mean.below_pct += part * row.below_pct;
        mean.interval_ratio += part * row.interval_ratio;
        out.push_back(std::move(row));
      }
      set_decisions(mean, whole);
      out.push_back(std::move(mean));
    }
  }
  return out;
}

}  // namespace kernelcast::model
