#include "models/overlap.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/diag/diag.hpp"

namespace kernelcast::model {

namespace {

using record::CommandKind;

enum Engine : std::size_t { compute, to_device, to_host, none };
constexpr std::size_t engine_count = 3;

Engine engine_of(CommandKind kind) {
  switch (kind) {
    case CommandKind::h2d:
      return to_device;
    case CommandKind::d2h:
      return to_host;
    case CommandKind::kernel:
    case CommandKind::library:
    case CommandKind::fill:
    case CommandKind::d2d:
      return compute;
    default:
      return none;
  }
}

}  // namespace

std::optional<double> host_link_bytes_per_s(std::string const& link) {
  // PCI Express base specification: what a lane carries after its line code, 8b/10b to generation 2, 128b/130b from 3.
  constexpr std::array<std::pair<char, double>, 4> lane{{{'2', 500e6}, {'3', 984.6e6}, {'4', 1969e6}, {'5', 3938e6}}};
  // devdb/curves, copy_bandwidth_bytes_per_s, "h2d pinned" of [shoc]: 0.67 to 0.83, median 0.75, of the ten devices
  // that sat in a slot of their own generation. For later generations an assumption.
  constexpr double reached = 0.75;
  constexpr std::string_view begin = "PCIe ";
  if (link == "NVLink-C2C") return 450e9 * reached;  // NVIDIA Grace Hopper whitepaper: 900 GB/s, both directions
  auto const by = link.rfind('x');
  if (!link.starts_with(begin) || by == std::string::npos) return std::nullopt;
  unsigned lanes = 0;
  std::from_chars(link.data() + by + 1, link.data() + link.size(), lanes);
  auto const found = std::ranges::find(lane, link[begin.size()], &std::pair<char, double>::first);
  if (found == lane.end() || lanes == 0) return std::nullopt;
  return found->second * lanes * reached;
}

std::string CommandOrder::add(record::Command command) {
  auto const place = commands_.size();
  std::vector<std::size_t> after;
  for (std::string_view rest = command.after; !rest.empty();) {
    auto const end = std::min(rest.find(';'), rest.size());
    std::uint64_t number = 0;
    auto const [at, code] = std::from_chars(rest.data(), rest.data() + end, number);
    auto const found = places_.find({command.process, number});
    if (code != std::errc{} || at != rest.data() + end || found == places_.end())
      return fmt::format("'{}' is not the number of an earlier command of the process", rest.substr(0, end));
    after.push_back(found->second);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (!places_.try_emplace({command.process, command.number}, place).second)
    return fmt::format("command {} is duplicated", command.number);
  for (auto const other : after) before_[other].push_back(place);
  before_.emplace_back();
  after_.push_back(std::move(after));
  commands_.push_back(std::move(command));
  return {};
}

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

// The commands that were issued, as they run.
class Running {
 public:
  Running(std::vector<double> const& seconds, std::vector<std::vector<std::size_t>> const& after,
          std::vector<std::vector<std::size_t>> const& before)
      : seconds_(seconds), before_(before), ready_s_(seconds.size(), 0), end_s_(seconds.size(), never) {
    for (auto const& all : after) missing_.push_back(all.size() + 1);  // and the host's call
  }

  void issue(std::size_t command, Engine engine, double now_s) {
    engines_.resize(std::max(engines_.size(), command + 1));
    engines_[command] = engine;
    release(command, now_s);
  }
  // When it ends.
  double end_of(std::size_t command) {
    while (end_s_[command] == never && step()) continue;
    return end_s_[command];
  }
  // When all do.
  double end() {
    while (step()) continue;
    return last_s_;
  }

 private:
  using Ready = std::pair<double, std::size_t>;  // since when, and which
  using Queue = std::priority_queue<Ready, std::vector<Ready>, std::greater<>>;

  void release(std::size_t command, double now_s) {
    ready_s_[command] = std::max(ready_s_[command], now_s);
    if (--missing_[command] > 0) return;
    if (engines_[command] == none)
      finish(command, ready_s_[command]);
    else
      queues_[engines_[command]].emplace(ready_s_[command], command);
  }
  // Over an explicit list: a chain of functions of the host's may be long.
  void finish(std::size_t command, double at_s) {
    std::vector<std::size_t> done{command};
    end_s_[command] = at_s;
    last_s_ = std::max(last_s_, at_s);
    while (!done.empty()) {
      auto const one = done.back();
      done.pop_back();
      for (auto const next : before_[one]) {
        ready_s_[next] = std::max(ready_s_[next], end_s_[one]);
        if (--missing_[next] > 0) continue;
        if (engines_[next] != none) {
          queues_[engines_[next]].emplace(ready_s_[next], next);
          continue;
        }
        end_s_[next] = ready_s_[next];
        last_s_ = std::max(last_s_, end_s_[next]);
        done.push_back(next);
      }
    }
  }
  // Of the engines' next commands the one that begins first; false where there is none.
  bool step() {
    std::size_t best = engine_count;
    double best_s = never;
    for (std::size_t e = 0; e < engine_count; ++e) {
      if (queues_[e].empty()) continue;
      double const begin_s = std::max(free_s_[e], queues_[e].top().first);
      if (begin_s < best_s) best_s = begin_s, best = e;
    }
    if (best == engine_count) return false;
    auto const command = queues_[best].top().second;
    queues_[best].pop();
    free_s_[best] = best_s + seconds_[command];
    finish(command, free_s_[best]);
    return true;
  }

  std::vector<double> const& seconds_;
  std::vector<std::vector<std::size_t>> const& before_;
  std::vector<Engine> engines_;
  std::vector<std::size_t> missing_;
  std::vector<double> ready_s_, end_s_;
  std::array<Queue, engine_count> queues_;
  std::array<double, engine_count> free_s_{};
  double last_s_ = 0;
};

}  // namespace

CommandOrder::Times CommandOrder::times(std::vector<double> const& seconds, bool host) const {
  Times out;
  Running running(seconds, after_, before_);
  double now_s = 0;
  for (std::size_t c = 0; c < commands_.size(); ++c) {
    auto const& command = commands_[c];
    out.sum_s += seconds[c];
    if (c > 0 && command.process != commands_[c - 1].process) now_s = std::max(now_s, running.end());
    if (host) now_s += command.host_s, out.sum_s += command.host_s;
    running.issue(c, engine_of(command.kind), now_s);
    if (command.host_waits) now_s = std::max(now_s, running.end_of(c));
  }
  out.together_s = std::max(now_s, running.end());
  return out;
}

namespace {

using LaunchTimes = std::map<std::pair<std::string, std::string>, record::Projection>;  // kernel, case: of all launches

void unite(record::Projection& all, record::Projection const& p) {
  auto const low = p.time_low_s ? p.time_low_s : p.time_s, high = p.time_high_s ? p.time_high_s : p.time_s;
  if (!all.time_s) {
    all = p;
    all.time_low_s = low;
    all.time_high_s = high;
    return;
  }
  *all.time_s += *p.time_s;
  *all.time_low_s += *low;
  *all.time_high_s += *high;
}

}  // namespace

ApplicationTimes application_times(CommandOrder const& order, std::vector<record::Projection> const& projections,
                                   device::DeviceDatabase const& database, std::string const& case_name, bool host) {
  std::map<std::pair<std::string, std::string>, LaunchTimes> of;  // model, device
  for (auto const& p : projections)
    if (p.time_s) unite(of[{p.model, p.device}][{p.kernel, p.case_name}], p);
  std::map<std::pair<std::string, std::string>, double> launches;
  for (auto const& c : order.commands()) launches[{c.kernel, c.case_name}] += 1;
  ApplicationTimes out;
  std::set<std::string> left_out, no_link;
  for (auto const& [key, times] : of) {
    auto const& [model, device_name] = key;
    auto const& known = database.find(device_name);
    auto const link = host_link_bytes_per_s(known.link);
    double const memory =
        known.measured_bandwidth_bytes_per_s.value_or(known.peak_bandwidth_bytes_per_s.value_or(never));
    bool whole = true;
    std::map<record::LimiterName, double> by_limiter;
    std::array<std::vector<double>, 3> seconds;  // of the time, its low and its high end
    for (auto const& c : order.commands()) {
      std::array<double, 3> each{};
      if (c.kind == CommandKind::kernel || c.kind == CommandKind::library) {
        auto const found = times.find({c.kernel, c.case_name});
        whole &= found != times.end();
        if (!whole) break;
        double const count = launches[{c.kernel, c.case_name}];
        auto const& p = found->second;
        each = {*p.time_s / count, *p.time_low_s / count, *p.time_high_s / count};
        by_limiter[p.limiter] += each[0];
      } else if (c.kind == CommandKind::h2d || c.kind == CommandKind::d2h) {
        whole &= link.has_value();
        if (!whole) {
          no_link.insert(device_name);
          break;
        }
        each.fill(c.bytes / *link);
        by_limiter[record::Limiter::transfer] += each[0];
      } else {
        each.fill((c.kind == CommandKind::d2d ? 2 : 1) * c.bytes / memory);
      }
      for (std::size_t end = 0; end < each.size(); ++end) seconds[end].push_back(each[end]);
    }
    if (!whole || by_limiter.empty()) {
      if (!no_link.contains(device_name)) left_out.insert(device_name);
      continue;
    }
    std::array<CommandOrder::Times, 3> all;
    for (std::size_t end = 0; end < all.size(); ++end) all[end] = order.times(seconds[end], host);
    record::Projection row;
    row.model = model;
    row.device = device_name;
    row.case_name = case_name;
    row.limiter = std::ranges::max_element(by_limiter, {}, [](auto const& l) { return l.second; })->first;
    for (auto const& [kernel, member] :
         {std::pair{"total", &CommandOrder::Times::together_s}, {"sum", &CommandOrder::Times::sum_s}}) {
      row.kernel = kernel;
      row.time_s = all[0].*member;
      // In another order shorter commands may take longer together.
      row.time_low_s = std::min(all[1].*member, *row.time_s);
      row.time_high_s = std::max(all[2].*member, *row.time_s);
      out.rows.push_back(row);
    }
  }
  out.left_out.assign(left_out.begin(), left_out.end());
  out.no_link.assign(no_link.begin(), no_link.end());
  return out;
}

}  // namespace kernelcast::model
