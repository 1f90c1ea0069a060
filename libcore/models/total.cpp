#include <algorithm>
#include <map>
#include <tuple>

#include "base/diag/names.hpp"
#include "models/rank.hpp"

namespace kernelcast::model {

namespace {

struct Sum {
  record::Projection row;
  std::size_t rows = 0, times = 0;
  bool interval = false;
  std::map<record::LimiterName, double> by_limiter;
};

void add(Sum& sum, record::Projection const& p) {
  ++sum.rows;
  if (!p.time_s) return;
  ++sum.times;
  double const time_s = *p.time_s;
  sum.row.time_s = sum.row.time_s.value_or(0) + time_s;
  sum.row.time_low_s = sum.row.time_low_s.value_or(0) + p.time_low_s.value_or(time_s);
  sum.row.time_high_s = sum.row.time_high_s.value_or(0) + p.time_high_s.value_or(time_s);
  sum.interval |= p.time_low_s || p.time_high_s;
  sum.by_limiter[p.limiter] += time_s;
}

}  // namespace

Totals total(std::vector<record::Projection> const& projections,
             std::function<std::string(std::string const& device)> const& party, SumOf of) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, Sum> sums;  // model, name, case, device
  for (auto const& p : projections) {
    auto const name = of == SumOf::each_kernel ? region_of_kernel(p.kernel) : "total";
    Sum& sum = sums[{p.model, name, p.case_name, p.device}];
    sum.row.model = p.model;
    sum.row.kernel = name;
    sum.row.case_name = p.case_name;
    sum.row.device = p.device;
    add(sum, p);
  }
  std::map<std::tuple<std::string, std::string, std::string, std::string>, std::size_t> whole;  // the last: party
  auto const whole_of = [&](auto const& key) -> std::size_t& {
    auto const& [model, name, case_name, device] = key;
    return whole[{model, name, case_name, party ? party(device) : ""}];
  };
  for (auto const& [key, sum] : sums) whole_of(key) = std::max(whole_of(key), party ? sum.rows : sum.times);
  Totals totals;
  for (auto& [key, sum] : sums) {
    if (sum.times == 0 || sum.times < whole_of(key)) {
      ++totals.incomplete;
      continue;
    }
    if (!sum.interval) sum.row.time_low_s = sum.row.time_high_s = std::nullopt;
    sum.row.limiter = std::max_element(sum.by_limiter.begin(), sum.by_limiter.end(), [](auto const& a, auto const& b) {
                        return a.second < b.second;
                      })->first;
    totals.rows.push_back(std::move(sum.row));
  }
  return totals;
}

}  // namespace kernelcast::model
