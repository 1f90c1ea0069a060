#include "models/configurations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>

namespace kernelcast::model {

namespace {

using Projection = record::Projection;
using Group = std::vector<Projection const*>;

// By model and kernel, and by device where that is asked for; of each the cases in the order of their names.
std::map<std::tuple<std::string, std::string, std::string>, Group> groups_of(std::vector<Projection> const& projections,
                                                                             bool by_device) {
  std::map<std::tuple<std::string, std::string, std::string>, Group> out;
  for (auto const& p : projections)
    if (p.time_s) out[{p.model, p.kernel, by_device ? p.device : std::string()}].push_back(&p);
  for (auto& [key, group] : out)
    std::ranges::sort(group, {}, [](auto const* p) { return std::tie(p->case_name, p->device); });
  return out;
}

// Pairs of equal elements of a sorted list.
double tied_pairs(std::vector<double> values) {
  std::ranges::sort(values);
  double pairs = 0;
  for (std::size_t begin = 0, end = 0; begin < values.size(); begin = end) {
    while (end < values.size() && values[end] == values[begin]) ++end;
    auto const n = static_cast<double>(end - begin);
    pairs += n * (n - 1) / 2;
  }
  return pairs;
}

constexpr std::size_t tops[] = {1, 5, 10};

record::ConfigurationScore score(std::string model, Projection const& of, std::vector<double> const& measured) {
  record::ConfigurationScore out;
  out.model = std::move(model);
  out.kernel = of.kernel;
  out.device = of.device;
  out.configurations = measured.size();
  return out;
}

void fill_losses(record::ConfigurationScore& row, auto const& loss) {
  row.loss_top1_pct = 100 * loss(tops[0]);
  row.loss_top5_pct = 100 * loss(tops[1]);
  row.loss_top10_pct = 100 * loss(tops[2]);
}

// Of an order by `keys`, the least first; equal ones in the order of the cases.
record::ConfigurationScore score_order(std::string model, Projection const& of, std::vector<double> const& keys,
                                       std::vector<double> const& measured) {
  auto row = score(std::move(model), of, measured);
  row.tau = kendall_tau(keys, measured);
  std::vector<std::size_t> order(keys.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair{keys[i], i}; });
  std::vector<double> chosen;
  for (auto const i : order) chosen.push_back(measured[i]);
  fill_losses(row, [&](std::size_t top) { return loss_of_first(chosen, top); });
  return row;
}

}  // namespace

double loss_of_first(std::vector<double> const& times, std::size_t top) {
  double const best = *std::ranges::min_element(times);
  auto const end = times.begin() + static_cast<std::ptrdiff_t>(std::min(top, times.size()));
  return *std::min_element(times.begin(), end) / best - 1;
}

double loss_at_random(std::vector<double> times, std::size_t top) {
  std::ranges::sort(times);
  auto const n = static_cast<double>(times.size());
  auto const k = static_cast<double>(std::min(top, times.size()));
  // The i-th fastest is the best of k with probability C(n - i, k - 1) / C(n, k).
  double probability = k / n, mean = 0;
  for (std::size_t i = 0; i < times.size() && probability > 0; ++i) {
    mean += probability * times[i];
    double const left = n - static_cast<double>(i) - 1;
    probability *= left > 0 ? std::max(0.0, left - k + 1) / left : 0;
  }
  return mean / times.front() - 1;
}

double kendall_tau(std::vector<double> const& a, std::vector<double> const& b) {
  double agree = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      double const x = a[i] - a[j], y = b[i] - b[j];
      if (x != 0 && y != 0) agree += (x > 0) == (y > 0) ? 1 : -1;
    }
  auto const n = static_cast<double>(a.size());
  double const pairs = n * (n - 1) / 2, scale = (pairs - tied_pairs(a)) * (pairs - tied_pairs(b));
  return scale > 0 ? agree / std::sqrt(scale) : 0;
}

std::vector<record::ConfigurationRanking> rank_configurations(std::vector<Projection> const& projections,
                                                              std::size_t top) {
  std::vector<record::ConfigurationRanking> out;
  for (auto& [key, group] : groups_of(projections, true)) {
    auto order = group;
    std::sort(order.begin(), order.end(), [](auto const* a, auto const* b) {
      return std::tie(*a->time_s, a->case_name) < std::tie(*b->time_s, b->case_name);
    });
    std::uint64_t rank = 0;
    for (std::size_t i = 0; i < order.size() && (top == 0 || i < top); ++i) {
      if (i == 0 || *order[i]->time_s > *order[i - 1]->time_s) rank = i + 1;
      auto const& p = *order[i];
      out.push_back({p.model, p.kernel, p.device, rank, p.case_name, *p.time_s, *p.time_s / *order.front()->time_s,
                     p.limiter, p.time_low_s, p.time_high_s});
    }
  }
  return out;
}

std::vector<record::Portability> portable(std::vector<Projection> const& projections) {
  std::vector<record::Portability> out;
  for (auto const& [key, group] : groups_of(projections, false)) {
    std::map<std::string, std::map<std::string, double>> by_case, by_device;
    for (auto const* p : group)
      by_case[p->case_name][p->device] = *p->time_s, by_device[p->device][p->case_name] = *p->time_s;
    std::vector<record::Portability> rows;
    for (auto const& [name, times] : by_case) {
      record::Portability row;
      row.model = group.front()->model, row.kernel = group.front()->kernel, row.case_name = name;
      row.worst_loss_pct = -1;
      for (auto const& [device, cases] : by_device) {
        if (cases.size() < by_case.size()) continue;
        double const best = std::ranges::min_element(cases, {}, [](auto const& entry) { return entry.second; })->second;
        double const loss = 100 * (times.at(device) / best - 1);
        row.mean_loss_pct += loss;
        ++row.devices;
        if (loss > row.worst_loss_pct) row.worst_loss_pct = loss, row.worst_device = device;
      }
      if (row.devices == 0) continue;
      row.mean_loss_pct /= static_cast<double>(row.devices);
      rows.push_back(std::move(row));
    }
    std::ranges::sort(rows, {},
                      [](auto const& row) { return std::tuple{row.worst_loss_pct, row.mean_loss_pct, row.case_name}; });
    for (std::size_t i = 0; i < rows.size(); ++i) {
      bool const ties = i > 0 && rows[i].worst_loss_pct == rows[i - 1].worst_loss_pct &&
                        rows[i].mean_loss_pct == rows[i - 1].mean_loss_pct;
      rows[i].rank = ties ? rows[i - 1].rank : i + 1;
    }
    std::ranges::move(rows, std::back_inserter(out));
  }
  return out;
}

std::vector<record::ConfigurationScore> score_configurations(std::vector<Projection> const& projections,
                                                             std::vector<record::Measured> const& measured) {
  std::map<std::tuple<std::string, std::string, std::string>, double> times;
  for (auto const& m : measured)
    if (m.time_s) times[{m.kernel, m.case_name, m.device}] = *m.time_s;
  std::vector<record::ConfigurationScore> out;
  std::map<std::pair<std::string, std::string>, bool> has_trivial;  // kernel, device
  for (auto const& [key, group] : groups_of(projections, true)) {
    std::vector<double> projected, found, idle;
    for (auto const* p : group)
      if (auto const at = times.find({p->kernel, p->case_name, p->device}); at != times.end()) {
        projected.push_back(*p->time_s);
        found.push_back(at->second);
        if (p->occupancy) idle.push_back(-*p->occupancy);
      }
    if (found.size() < 2) continue;
    auto const& any = *group.front();
    out.push_back(score_order(any.model, any, projected, found));
    if (std::exchange(has_trivial[{any.kernel, any.device}], true)) continue;
    if (idle.size() == found.size()) out.push_back(score_order("trivial:occupancy", any, idle, found));
    auto row = score("trivial:random", any, found);
    row.tau = 0;
    fill_losses(row, [&](std::size_t top) { return loss_at_random(found, top); });
    out.push_back(std::move(row));
  }
  std::ranges::sort(out, {}, [](auto const& row) {
    return std::tuple{row.kernel, row.device, row.model.starts_with("trivial:"), row.model};
  });
  return out;
}

}  // namespace kernelcast::model
