#include "models/ake/devices.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/diag/diag.hpp"
#include "base/diag/text.hpp"
#include "records/table/table.hpp"

namespace kernelcast::model::ake {

LatencyTable read_latencies(csv::Reader& figures, csv::Reader& fallbacks) {
  LatencyTable out;
  out.rows = record::read_rows<record::LatencyGap>(figures);
  record::Reader<record::LatencyFallback> steps(fallbacks);
  for (record::LatencyFallback step; steps.next(step);) {
    if (!class_named(step.class_name))
      throw steps.error("class", fmt::format("unknown class '{}'", step.class_name),
                        did_you_mean(step.class_name, {class_names.begin(), class_names.end()}, 30));
    if (step.quantity != "latency" && step.quantity != "gap")
      throw steps.error("quantity", fmt::format("expected latency or gap, got '{}'", step.quantity));
    out.fallbacks.push_back(step);
  }
  return out;
}

void read_issuing(csv::Reader& reader, LatencyTable& table) {
  record::Reader<record::IssueRule> rules(reader);
  for (record::IssueRule rule; rules.next(rule);) {
    auto const known = [&](std::string_view column, std::string_view text, std::span<std::string_view const> names) {
      for (auto const one : listed(text))
        if (std::find(names.begin(), names.end(), one) == names.end())
          throw rules.error(column, fmt::format("unknown name '{}'", one),
                            did_you_mean(one, {names.begin(), names.end()}, 30));
    };
    std::array<std::string_view, 2> const yes_no{"yes", "no"};
    std::array<std::string_view, 1> const orders{"oldest"};
    known("kinds", rule.kinds, std::span(issue_kind_names).subspan(1));
    known("staggered", rule.staggered, yes_no);
    known("waits", rule.waits, yes_no);
    known("order", rule.order, orders);
    known("apart", rule.apart, class_names);
    table.issuing.push_back(rule);
  }
}

LatencyTable read_latencies(std::string const& database, std::function<csv::Reader(std::string const&)> const& open) {
  auto figures = open(database + "/latgap.csv"), fallbacks = open(database + "/latgap_fallbacks.csv");
  auto out = read_latencies(figures, fallbacks);
  auto const path = database + "/issue.csv";
  if (std::error_code error; std::filesystem::exists(path, error)) {
    auto rules = open(path);
    read_issuing(rules, out);
  }
  return out;
}

Devices::Devices(device::DeviceDatabase const& database, std::vector<std::string> const& names,
                 LatencyTable const& table, Options const& options, std::size_t neighbours,
                 record::Selection const* only)
    : neighbours_(options.memory.kind == MemoryMode::Kind::simulated ? std::max<std::size_t>(1, neighbours) : 1),
      only_(only) {
  bool const all = names.empty() && !only;
  for (auto const* const device : database.choose(names.empty() && only ? only->devices() : names,
                                                  [&](auto const& d) { return all && device::is_gpu(d); })) {
    auto resolved = resolve(*device, table);
    if (!all || resolved.missing.empty()) projectors_.emplace_back(*device, std::move(resolved), options);
  }
}

bool Devices::takes(record::Trace const& launch, Projector const& projector) const {
  return !only_ || only_->has(launch.kernel, launch.case_name, projector.device().device);
}

// The resident groups, and with simulated caches neighbours of them.
std::size_t Devices::groups_needed(record::Trace const& launch) const {
  std::size_t most = 1;
  for (auto const& p : projectors_)
    if (takes(launch, p)) most = std::max(most, p.fit(launch).groups_per_cu);
  return most * neighbours_;
}

void Devices::emulate(record::TraceStream& rows, Timeline* timeline,
                      std::function<void(record::Trace const&)> const& begins,
                      std::function<void(record::Emulation const&)> const& visit) {
  LaunchReader launches(rows, [&](record::Trace const& head) {
    begins(head);
    return groups_needed(head);
  });
  std::map<std::pair<std::string, std::string>, std::size_t> order;  // by kernel and case
  for (Launch launch; launches.next(launch);) {
    order.try_emplace({launch.head.kernel, launch.head.case_name}, order.size());
    for (Projector& projector : projectors_) {
      if (!takes(launch.head, projector)) continue;
      if (timeline) timeline->begin(launch, projector.device(), projector.cycle_ticks());
      projector.add(launch, timeline ? timeline->observer() : nullptr);
    }
  }
  std::vector<std::vector<record::Emulation>> results(order.size());
  for (Projector& projector : projectors_)
    for (auto& row : projector.rows()) results[order.at({row.kernel, row.case_name})].push_back(std::move(row));
  for (auto const& of_kernel : results)
    for (auto const& row : of_kernel) visit(row);
}

}  // namespace kernelcast::model::ake
