#include "models/own_times.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "base/statistics/median.hpp"
#include "models/calibration.hpp"
#include "models/rates.hpp"

namespace kernelcast::model {

using record::Limiter;

namespace {

constexpr std::size_t min_times = 3;
constexpr double max_change = 4;

struct ReadyTime {
  queue::Kernel kernel;
  OwnTime of;
};
using ReadyTimes = std::vector<ReadyTime const*>;

enum class Decides { launches, memory, clock };

Decides what_decides(record::Projection const& p) {
  return p.limiter == Limiter::launch ? Decides::launches
         : p.limiter == Limiter::dram ? Decides::memory
                                      : Decides::clock;
}

// The median of what `value` says of each time that is decided so; of three or more.
template <class Value>
std::optional<OwnFigure> figure(OwnDevice const& own, ReadyTimes const& times, Decides decides, Value const& value) {
  std::vector<double> values;
  queue::Terms terms;
  for (auto const* t : times) {
    t->kernel.explain(own.device, own.options, terms);
    if (!terms.projection.time_s || what_decides(terms.projection) != decides) continue;
    if (auto const v = value(*t, terms)) values.push_back(*v);
  }
  if (values.size() < min_times) return std::nullopt;
  return OwnFigure{median(values), values.size()};
}

// Measured over projected execution, launches left out.
std::optional<double> slower(ReadyTime const& t, queue::Terms const& terms) {
  double const launches_s = terms.projection.t_launch_s.value_or(0);
  double const ratio = (t.of.measured_s - launches_s) / (*terms.projection.time_s - launches_s);
  return ratio > 1 / max_change && ratio < max_change ? std::optional(ratio) : std::nullopt;
}

OwnDevice fitted(device::Device const& device, ReadyTimes const& times, queue::Options const& options) {
  OwnDevice own;
  own.device = device;
  own.options = options;
  own.launch_s = figure(own, times, Decides::launches, [](auto const& t, auto const& terms) {
    auto const& p = terms.projection;
    double const each = (t.of.measured_s - (*p.time_s - p.t_launch_s.value_or(0))) /
                        std::max<double>(1, static_cast<double>(t.of.row->launches));
    return each > terms.launch / max_change && each < terms.launch * max_change ? std::optional(each) : std::nullopt;
  });
  if (own.launch_s) {
    if (!own.options.has_launch_cost) own.options.common.launch_cost = {};
    own.options.has_launch_cost = true;
    own.options.common.launch_cost.of[device.device] = own.launch_s->value;
  }
  double bytes_per_s = 0;
  own.bandwidth_bytes_per_s = figure(own, times, Decides::memory, [&](auto const& t, auto const& terms) {
    bytes_per_s = dram_bytes_per_s(own.device, own.options.constants);
    return slower(t, terms);
  });
  if (auto& b = own.bandwidth_bytes_per_s) {
    b->value = bytes_per_s / b->value;
    own.device.measured_bandwidth_bytes_per_s = b->value;
  }
  double hz = 0;
  own.clock_hz = figure(own, times, Decides::clock, [&](auto const& t, auto const& terms) {
    hz = terms.common.clock_hz;
    return slower(t, terms);
  });
  if (auto& c = own.clock_hz) {
    c->value = hz / c->value;
    own.options.common.clock_hz = c->value;
  }
  return own;
}

}  // namespace

OwnDevice learn(device::Device const& device, std::vector<OwnTime> const& times, queue::Options const& options) {
  std::vector<ReadyTime> ready;
  ready.reserve(times.size());
  for (auto const& t : times)
    if (t.measured_s > 0) ready.push_back({queue::Kernel(*t.row), t});
  std::map<std::string, ReadyTimes> kernels;
  ReadyTimes all;
  for (auto const& t : ready) kernels[t.of.row->kernel].push_back(&t), all.push_back(&t);
  auto own = fitted(device, all, options);
  std::vector<Residual> residuals;
  for (auto const& [kernel, left_out] : kernels) {
    ReadyTimes others;
    for (auto const* t : all)
      if (t->of.row->kernel != kernel) others.push_back(t);
    auto const of_others = fitted(device, others, options);
    for (auto const* t : left_out) {
      auto const p = t->kernel.project(of_others.device, of_others.options);
      if (!p.time_s) continue;
      auto& r = residuals.emplace_back();
      r.program = kernel;
      r.log = std::log(t->of.measured_s / *p.time_s);
    }
  }
  if (auto const factors = factors_of(residuals)) {
    own.kernels = kernels.size();
    own.device.residuals.set(record::ResidualModel::queue, *factors);
    own.device.residuals.set(record::ResidualModel::queue_launches, *factors);
  }
  return own;
}

}  // namespace kernelcast::model
