#include "models/overlap.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <queue>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/diag/diag.hpp"
#include "base/diag/text.hpp"
#include "models/queue.hpp"

namespace kernelcast::model {

namespace {

using record::CommandKind;

enum Engine : std::size_t { compute, to_device, to_host, none };
constexpr std::size_t engine_count = 3;

Engine engine_of(record::Command const& command) {
  switch (command.kind) {
    case CommandKind::h2d:
      return to_device;
    case CommandKind::d2h:
      return to_host;
    case CommandKind::kernel:
    case CommandKind::library:
    case CommandKind::collective:
    case CommandKind::fill:
      return compute;
    case CommandKind::d2d:
      return command.from_device ? to_device : compute;
    default:
      return none;
  }
}

}  // namespace

std::string CommandOrder::add(record::Command command) {
  constexpr std::uint64_t max_devices = 1024;
  if (command.device >= max_devices)
    return fmt::format("device {} is beyond the {} that an application may have", command.device, max_devices);
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
constexpr std::size_t no_engine = std::numeric_limits<std::size_t>::max();

// The commands that were issued, as they run.
class Running {
 public:
  Running(std::vector<CommandOrder::Cost> const& costs, std::vector<std::vector<std::size_t>> const& after,
          std::vector<std::vector<std::size_t>> const& before)
      : costs_(costs), before_(before), ready_s_(costs.size(), 0), end_s_(costs.size(), never) {
    for (auto const& all : after) missing_.push_back(all.size() + 1);  // and the host's call
    for (auto const& cost : costs) longest_gap_s_ = std::max(longest_gap_s_, cost.gap_s);
  }

  // Called at now_s, on an engine of the device.
  void issue(std::size_t command, Engine engine, std::size_t device, double now_s) {
    engines_.resize(std::max(engines_.size(), command + 1), no_engine);
    if (engine != none) {
      engines_[command] = device * engine_count + engine;
      queues_.resize(std::max(queues_.size(), (device + 1) * engine_count));
      under_way_.resize(queues_.size());
    }
    ready_s_[command] = std::max(ready_s_[command], now_s + costs_[command].delay_s);
    if (--missing_[command] > 0) return;
    if (engine == none)
      finish(command, ready_s_[command]);
    else
      queues_[engines_[command]].emplace(ready_s_[command], command);
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

  // Over an explicit list: a chain of functions of the host's may be long.
  void finish(std::size_t command, double at_s) {
    std::vector<std::size_t> done{command};
    end_s_[command] = at_s;
    last_s_ = std::max(last_s_, at_s);
    while (!done.empty()) {
      auto const one = done.back();
      done.pop_back();
      for (auto const next : before_[one]) {
        ready_s_[next] = std::max(ready_s_[next], end_s_[one] + costs_[next].gap_s);
        if (--missing_[next] > 0) continue;
        if (engines_[next] != no_engine) {
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
    std::size_t best = no_engine;
    double best_s = never;
    for (std::size_t e = 0; e < queues_.size(); ++e) {
      if (queues_[e].empty()) continue;
      auto const& [ready_s, command] = queues_[e].top();
      double const begin_s = begin_of(under_way_[e], costs_[command], ready_s);
      if (begin_s < best_s) best_s = begin_s, best = e;
    }
    if (best == no_engine) return false;
    auto const command = queues_[best].top().second;
    queues_[best].pop();
    auto& all = under_way_[best];
    std::erase_if(all, [&](UnderWay const& one) { return one.end_s + longest_gap_s_ <= best_s; });
    double const end_s = best_s + costs_[command].device_s;
    all.insert(std::ranges::upper_bound(all, end_s, {}, &UnderWay::end_s), {end_s, costs_[command].share});
    finish(command, end_s);
    return true;
  }

  struct UnderWay {
    double end_s, share;
  };
  // When it fits beside what is under way, which is in the order of the ends.
  static double begin_of(std::vector<UnderWay> const& all, CommandOrder::Cost const& cost, double ready_s) {
    constexpr double whole = 1 + 1e-9;
    double begin_s = ready_s, used = cost.share;
    for (auto const& one : all)
      if (one.end_s + cost.gap_s > ready_s) used += one.share;
    for (auto one = all.begin(); one != all.end() && used > whole; ++one) {
      if (one->end_s + cost.gap_s <= ready_s) continue;
      begin_s = one->end_s + cost.gap_s;
      used -= one->share;
    }
    return begin_s;
  }

  std::vector<CommandOrder::Cost> const& costs_;
  std::vector<std::vector<std::size_t>> const& before_;
  std::vector<std::size_t> engines_;  // of each command, among those of all devices
  std::vector<std::size_t> missing_;
  std::vector<double> ready_s_, end_s_;
  std::vector<Queue> queues_;
  std::vector<std::vector<UnderWay>> under_way_;  // of each engine
  double last_s_ = 0, longest_gap_s_ = 0;
};

}  // namespace

CommandOrder::Times CommandOrder::times(std::vector<Cost> const& costs, double host) const {
  std::set<std::string_view> together;  // processes that operate with others
  for (auto const& command : commands_)
    if (command.kind == CommandKind::collective) together.insert(command.process);
  Times out;
  double begin_s = 0;
  for (std::size_t c = 0; c < commands_.size();) {
    std::string_view const process = commands_[c].process;
    Running running(costs, after_, before_);
    bool const alone = !together.contains(process);
    double now_s = alone ? out.together_s : begin_s;
    for (; c < commands_.size() && commands_[c].process == process; ++c) {
      auto const& command = commands_[c];
      double const own_s = host * command.host_s;
      out.sum_s += std::max(costs[c].delay_s, costs[c].gap_s) + costs[c].device_s + own_s;
      now_s += own_s;
      running.issue(c, engine_of(command), command.device, now_s);
      now_s += costs[c].call_s;
      if (command.host_waits) now_s = std::max(now_s, running.end_of(c));
    }
    out.together_s = std::max({out.together_s, now_s, running.end()});
    if (alone) begin_s = out.together_s;
  }
  return out;
}

namespace {

// Of all launches of a kernel and case: the time with its ends, and what the launches cost of it.
struct LaunchTimes {
  std::array<double, 3> time_s{};  // the time, its low and its high end
  double launch_s = 0;
  record::LimiterName limiter;
  double occupancy = 1;

  void add(record::Projection const& p) {
    if (time_s[0] == 0) limiter = p.limiter, occupancy = p.occupancy.value_or(1);
    time_s[0] += *p.time_s;
    time_s[1] += p.time_low_s.value_or(*p.time_s);
    time_s[2] += p.time_high_s.value_or(*p.time_s);
    launch_s += p.t_launch_s.value_or(0);
  }
};
using KernelCase = std::pair<std::string, std::string>;
using Costs = std::array<CommandOrder::Cost, 3>;  // of the time, its low and its high end

// What the commands of one application cost on one device.
class DeviceCosts {
 public:
  DeviceCosts(device::Device const& device, DeviceLinks const& links, std::map<KernelCase, LaunchTimes> const& times,
              std::set<KernelCase> const& counted, std::map<KernelCase, double> const& launches)
      : device_(device),
        links_(links),
        times_(times),
        counted_(counted),
        launches_(launches),
        constants_(queue::constants_on(device)),
        memory_(device.measured_bandwidth_bytes_per_s.value_or(device.peak_bandwidth_bytes_per_s.value_or(never))) {
    for (auto const& [key, all] : times)
      if (auto const count = launches.find(key); count != launches.end())
        fill_s_ = std::max(fill_s_, all.launch_s / count->second);
  }

  // None where a time or the link is not known.
  std::optional<Costs> of(record::Command const& command) {
    switch (command.kind) {
      case CommandKind::kernel:
      case CommandKind::library:
        return of_launch(command);
      case CommandKind::h2d:
      case CommandKind::d2h:
        return of_copy(command);
      case CommandKind::d2d:
      case CommandKind::fill:
        return on_device(command);
      case CommandKind::collective:
        return of_collective(command);
      default:
        return Costs{};
    }
  }
  bool no_link() const { return no_link_; }
  std::map<record::LimiterName, double> const& by_limiter() const { return by_limiter_; }

 private:
  // Of a call that only enqueues.
  CommandOrder::Cost enqueued(record::Command const& command, double launch_s) {
    CommandOrder::Cost out;
    bool const within = command.graph != 0 && graph_ == std::pair(command.process, command.graph);
    graph_ = {command.process, command.graph};
    out.gap_s = std::min(launch_s, command.graph != 0 ? constants_.graph_node_s : constants_.queued_gap_s);
    if (within) return out;
    out.call_s = std::min(launch_s, device_.queued_launch_s.value_or(constants_.queued_launch_s));
    out.delay_s = launch_s;
    return out;
  }

  std::optional<Costs> of_launch(record::Command const& command) {
    KernelCase const key{command.kernel, command.case_name};
    if (!counted_.contains(key)) return Costs{};
    auto const found = times_.find(key);
    if (found == times_.end()) return std::nullopt;
    auto const& all = found->second;
    double const count = launches_.at(key);
    auto const cost = enqueued(command, all.launch_s / count);
    std::array<double, 3> reached_s{};  // of the host's memory, at least
    if (command.bytes > 0) {
      auto const rate = links_.rate(device_, record::HostMemory::pinned, true);
      no_link_ = !rate;
      if (no_link_) return std::nullopt;
      reached_s = {command.bytes / rate->bytes_per_s, command.bytes / rate->high_bytes_per_s,
                   command.bytes / rate->low_bytes_per_s};
    }
    Costs out;
    for (std::size_t end = 0; end < out.size(); ++end) {
      double const factor = all.time_s[end] / all.time_s[0];
      double const body_s = factor * std::max(0.0, all.time_s[0] - all.launch_s) / count;
      out[end] = {std::max(body_s, reached_s[end]), factor * cost.call_s, factor * cost.delay_s, factor * cost.gap_s,
                  command.kind == CommandKind::library ? 1 : share_of(command.case_name, all.occupancy)};
    }
    bool const waits = reached_s[0] > all.time_s[0] / count;
    by_limiter_[waits ? record::LimiterName(record::Limiter::transfer) : all.limiter] +=
        std::max(reached_s[0], all.time_s[0] / count);
    return out;
  }

  // Of the device, what a launch of these sizes (GLOBAL/LOCAL) fills when its groups are all there at once.
  double share_of(std::string_view sizes, double occupancy) const {
    auto const slash = sizes.find('/');
    auto const items = product(sizes.substr(0, slash)),
               group = slash < sizes.size() ? product(sizes.substr(slash + 1)) : 0;
    double const waves = static_cast<double>(device_.rule.max_waves_per_cu.value_or(0)),
                 width = static_cast<double>(device_.rule.wave_width.value_or(0)),
                 units = static_cast<double>(device_.compute_units.value_or(0));
    if (!(items > 0 && group > 0 && waves > 0 && width > 0 && units > 0 && occupancy > 0)) return 1;
    double const resident = std::max(1.0, occupancy * waves / std::ceil(group / width));
    return std::min(1.0, items / group / (units * resident));
  }
  // "32x8": 256; 0 for another text.
  static double product(std::string_view text) {
    double out = 1;
    for (auto const factor : split(text, 'x')) out *= to_number<double>(factor).value_or(0);
    return out;
  }

  std::optional<Costs> of_copy(record::Command const& command) {
    return over(
        links_.rate(device_, command.memory.value_or(record::HostMemory::pinned), command.kind == CommandKind::h2d),
        command);
  }

  std::optional<Costs> over(std::optional<CopyRate> const& rate, record::Command const& command) {
    if (!rate) {
      no_link_ = true;
      return std::nullopt;
    }
    auto cost = enqueued(command, rate->latency_s);
    Costs out;
    double const rates[] = {rate->bytes_per_s, rate->high_bytes_per_s, rate->low_bytes_per_s};
    for (std::size_t end = 0; end < out.size(); ++end) {
      cost.device_s = command.bytes / rates[end];
      out[end] = cost;
    }
    by_limiter_[record::Limiter::transfer] += out[0].device_s + out[0].delay_s;
    return out;
  }

  // Its latency has the launch; its work-groups are few.
  std::optional<Costs> of_collective(record::Command const& command) {
    auto const operation = collective_named(command.kernel);
    auto const devices = to_number<std::uint64_t>(command.case_name).value_or(0);
    auto const fabric = links_.fabric(device_, devices);
    no_link_ = !fabric;
    if (!operation || devices < 2 || !fabric) return std::nullopt;
    constexpr double share = 0.2;
    auto cost = enqueued(command, fill_s_);
    cost.delay_s = 0;
    cost.device_s = collective_s(*operation, command.bytes, devices, *fabric, sm_number(device_.target).value_or(80));
    cost.share = share;
    by_limiter_[record::Limiter::transfer] += cost.device_s;
    Costs out;
    out.fill(cost);
    return out;
  }

  std::optional<Costs> on_device(record::Command const& command) {
    Costs out;
    if (command.from_device) return over(links_.between(device_, *command.from_device, command.device), command);
    auto cost = enqueued(command, fill_s_);
    cost.device_s = (command.kind == CommandKind::d2d ? 2 : 1) * command.bytes / memory_;
    out.fill(cost);
    return out;
  }

  device::Device const& device_;
  DeviceLinks const& links_;
  std::map<KernelCase, LaunchTimes> const& times_;
  std::set<KernelCase> const& counted_;
  std::map<KernelCase, double> const& launches_;
  queue::Constants constants_;
  double memory_;
  double fill_s_ = 0;  // of a launch that has no row: as of those that have
  bool no_link_ = false;
  std::pair<std::string, std::uint64_t> graph_;  // that the command before was of
  std::map<record::LimiterName, double> by_limiter_;
};

}  // namespace

ApplicationTimes application_times(VendorOrders const& orders, std::vector<record::Projection> const& projections,
                                   device::DeviceDatabase const& database, DeviceLinks const& links,
                                   std::string const& case_name, double host) {
  std::map<std::pair<std::string, std::string>, std::map<KernelCase, LaunchTimes>> of;  // model, device
  std::set<KernelCase> counted;
  for (auto const& p : projections) {
    counted.insert({p.kernel, p.case_name});
    if (p.time_s) of[{p.model, p.device}][{p.kernel, p.case_name}].add(p);
  }
  ApplicationTimes out;
  std::set<std::string> left_out, no_link, uncounted;
  std::map<std::string, std::map<KernelCase, double>> launches_of;  // by vendor, as the orders
  for (auto const& [vendor, order] : orders)
    for (auto const& c : order.commands()) {
      KernelCase const key{c.kernel, c.case_name};
      launches_of[vendor][key] += 1;
      bool const is_launch = c.kind == CommandKind::kernel || c.kind == CommandKind::library;
      if (is_launch && !counted.contains(key)) uncounted.insert(c.kernel.empty() ? c.case_name : c.kernel);
    }
  for (auto const& [key, times] : of) {
    auto const& [model, device_name] = key;
    auto const& known = database.find(device_name);
    auto at = orders.end();  // the vendor's own come last
    for (auto one = orders.begin(); one != orders.end(); ++one)
      if (!device::is_for_others(one->first, known)) at = one;
    if (at == orders.end()) {
      left_out.insert(device_name);
      continue;
    }
    auto const& order = at->second;
    DeviceCosts of_device(known, links, times, counted, launches_of[at->first]);
    bool whole = true;
    std::array<std::vector<CommandOrder::Cost>, 3> costs;  // of the time, its low and its high end
    for (auto const& c : order.commands()) {
      auto const each = of_device.of(c);
      whole = each.has_value();
      if (!whole) break;
      for (std::size_t end = 0; end < costs.size(); ++end) costs[end].push_back((*each)[end]);
    }
    if (of_device.no_link()) no_link.insert(device_name);
    auto const& by_limiter = of_device.by_limiter();
    if (!whole || by_limiter.empty()) {
      if (!no_link.contains(device_name)) left_out.insert(device_name);
      continue;
    }
    std::array<CommandOrder::Times, 3> all;
    for (std::size_t end = 0; end < all.size(); ++end) all[end] = order.times(costs[end], host);
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
  out.uncounted.assign(uncounted.begin(), uncounted.end());
  return out;
}

}  // namespace kernelcast::model
