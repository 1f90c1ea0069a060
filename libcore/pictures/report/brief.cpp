#include "pictures/report/brief.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diag/names.hpp"
#include "pictures/report/html.hpp"
#include "records/table/table.hpp"

namespace kernelcast::report {

namespace {

constexpr std::size_t named_kernels = 3, named_devices = 4, lines_wanted = 10;

std::string plain_seconds(double s) {
  return record::scaled_text(s, record::Unit::seconds);
}

std::string plain_bytes(double b) {
  return record::scaled_text(b, record::Unit::bytes);
}

// "a, b, c and 3 more".
std::string some(std::vector<std::string> const& names, std::size_t most) {
  std::vector<std::string> const first(names.begin(),
                                       names.begin() + static_cast<std::ptrdiff_t>(std::min(most, names.size())));
  auto out = fmt::format("{}", fmt::join(first, ", "));
  if (names.size() > most) out += fmt::format(" and {} more", names.size() - most);
  return out;
}

using KernelCase = std::pair<std::string, std::string>;

// What was seen, and how much of it is in the times.
std::string seen(Brief const& a, device::Device const& best) {
  std::set<std::string> kernels;
  std::set<KernelCase> known;
  double with_row = 0, allocated = 0;
  std::size_t configurations = 0;
  std::string_view before;
  for (auto const& k : a.kernels) {
    if (device::is_for_others(k.runs_on, best)) continue;
    kernels.insert(k.kernel);
    known.insert({k.kernel, k.case_name});
    if (k.kernel == before && !k.target.empty()) continue;  // the same launches in machine code
    before = k.kernel;
    ++configurations;
    with_row += static_cast<double>(k.launches);
    allocated = std::max(allocated, static_cast<double>(k.allocated_bytes.value_or(0)));
  }
  double asked = 0, covered = 0, copied = 0;
  for (auto const& c : a.commands) {
    using record::CommandKind;
    if (device::is_for_others(c.runs_on, best)) continue;
    if (c.kind == CommandKind::kernel || c.kind == CommandKind::library) {
      ++asked;
      covered += known.contains({c.kernel, c.case_name}) ? 1 : 0;
    } else if (c.kind == CommandKind::h2d || c.kind == CommandKind::d2h) {
      copied += c.bytes;
    }
  }
  auto out = fmt::format("{}: {}, {}, {}", a.subject, counted(kernels.size(), "kernel"),
                         counted(configurations, "configuration"),
                         counted(static_cast<std::uint64_t>(asked > 0 ? asked : with_row), "launch", "es"));
  if (asked > 0) out += fmt::format(", {:.3g} % of them counted", 100 * covered / asked);
  if (copied > 0) out += fmt::format("; {} copied", plain_bytes(copied));
  if (allocated > 0) out += fmt::format("; {} of device memory", plain_bytes(allocated));
  return out;
}

std::string interval(record::Ranking const& row) {
  if (!row.time_low_s || !row.time_high_s) return "no interval";
  return fmt::format("{} to {}", plain_seconds(*row.time_low_s), plain_seconds(*row.time_high_s));
}

// For how many runs costs are said, so that the least is no small part of a unit.
Runs runs_of(Brief const& a) {
  double least = 0;
  for (auto const& row : a.ranking)
    if (row.cost && *row.cost > 0 && (least == 0 || *row.cost < least)) least = *row.cost;
  return least > 0 ? runs_for(least) : Runs{};
}

std::string headline(Brief const& a) {
  auto const& best = a.ranking.front();
  std::string const what = a.by == "cost" ? "cheapest" : a.by == "energy" ? "least energy" : "fastest";
  auto out = fmt::format("{}: {}, {} ({})", what, best.device, plain_seconds(best.time_s), interval(best));
  if (best.cost)
    out += fmt::format(", {:.3g} {} for {}", *best.cost * runs_of(a).number, best.currency, runs_of(a).text);
  std::vector<std::string> open;
  for (std::size_t i = 1; i < a.ranking.size(); ++i)
    if (!a.ranking[i].decided) open.push_back(a.ranking[i].device);
  if (a.ranking.size() == 1) return out;
  return out + (open.empty() ? "; decided against all others"
                             : fmt::format("; not decided against {}", some(open, named_devices)));
}

// The rows of the first devices, in columns.
std::vector<std::string> table(Brief const& a, std::size_t top, std::set<std::string> const& unvalidated) {
  std::vector<std::vector<std::string>> rows;
  bool const with_cost = std::ranges::any_of(a.ranking, [](auto const& row) { return row.cost.has_value(); });
  auto const shown = std::min(top, a.ranking.size());
  double fastest = a.ranking.front().time_s;
  for (std::size_t i = 0; i < shown; ++i) fastest = std::min(fastest, a.ranking[i].time_s);
  auto const runs = runs_of(a);
  rows.push_back({"", "device", "time", "interval", "/ fastest", "decided", "limiter"});
  if (with_cost) rows.front().push_back(fmt::format("cost of {}", runs.text));
  rows.front().emplace_back("energy <=");
  for (std::size_t i = 0; i < shown; ++i) {
    auto const& row = a.ranking[i];
    rows.push_back({fmt::format("{}", row.rank), row.device + (unvalidated.contains(row.device) ? "*" : ""),
                    plain_seconds(row.time_s), interval(row), fmt::format("{:.2f}", row.time_s / fastest),
                    row.decided ? "yes" : "no", row.limiter.text()});
    if (with_cost)
      rows.back().push_back(row.cost ? fmt::format("{:.3g} {}", *row.cost * runs.number, row.currency) : "");
    rows.back().push_back(row.energy_j ? record::scaled_text(*row.energy_j, record::Unit::joules) : "");
  }
  std::vector<std::size_t> widths(rows.front().size());
  for (auto const& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  std::vector<std::string> out;
  for (auto const& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      bool const right = c == 0 || c == 2 || c == 4 || c > 6;
      line += right ? fmt::format(" {:>{}} ", row[c], widths[c]) : fmt::format(" {:<{}} ", row[c], widths[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out.push_back(std::move(line));
  }
  return out;
}

std::string largest(Brief const& a) {
  auto const& device = a.ranking.front().device;
  std::map<std::string, std::pair<double, record::Projection const*>> by_kernel;  // the time of all, and the longest
  double sum = 0;
  for (auto const& p : a.projections) {
    if (p.device != device || !p.time_s) continue;
    auto& [time_s, longest] = by_kernel[region_of_kernel(p.kernel)];
    time_s += *p.time_s;
    sum += *p.time_s;
    if (!longest || *p.time_s > *longest->time_s) longest = &p;
  }
  std::vector<std::pair<double, record::Projection const*>> order;
  for (auto const& [name, kernel] : by_kernel) order.push_back(kernel);
  std::ranges::sort(order, [](auto const& x, auto const& y) {
    return x.first != y.first ? x.first > y.first : x.second->kernel < y.second->kernel;
  });
  std::vector<std::string> out;
  for (auto const& [time_s, longest] : order) {
    if (out.size() == named_kernels) break;
    auto const limiter = longest->limiter.empty() ? "" : fmt::format(" ({})", longest->limiter.text());
    out.push_back(
        fmt::format("{:.3g} % {}{}", 100 * time_s / sum, name_in_source(region_of_kernel(longest->kernel)), limiter));
  }
  auto text = fmt::format("largest kernels on {}, and what limits them: {}", device, fmt::join(out, ", "));
  if (order.size() > out.size()) text += fmt::format(" and {} more", order.size() - out.size());
  return text;
}

// Devices that are not ranked, by what is missing; empty where all are.
std::string left_out(Brief const& a, device::DeviceDatabase const& database) {
  std::set<std::string> ranked;
  for (auto const& row : a.ranking) ranked.insert(row.device);
  double needed = 0;
  for (auto const& k : a.kernels) needed = std::max(needed, static_cast<double>(k.allocated_bytes.value_or(0)));
  std::map<std::string, std::string> why;  // by device, the first reason
  std::set<std::string> timed;
  for (auto const& p : a.projections)
    if (!p.time_s)
      why.try_emplace(p.device, p.reason);
    else
      timed.insert(p.device);
  std::vector<std::string> small, others, unpriced, unlinked;
  for (auto const& device : database.devices()) {  // in its order
    auto const& id = device.device;
    if (ranked.contains(id)) continue;
    if (why.contains(id))
      (device.memory_bytes && *device.memory_bytes < needed ? small : others).push_back(id);
    else if (timed.contains(id))
      (a.by == "time" ? unlinked : unpriced).push_back(id);
  }
  std::vector<std::string> out;
  if (!small.empty())
    out.push_back(fmt::format("memory too small for {}: {}", plain_bytes(needed), some(small, named_devices)));
  if (!others.empty())
    out.push_back(fmt::format("cannot run it or unknown: {} ({}: {})", some(others, named_devices), others.front(),
                              why[others.front()]));
  if (!unlinked.empty()) out.push_back(fmt::format("link to the host unknown: {}", some(unlinked, named_devices)));
  if (!unpriced.empty()) {
    out.push_back(fmt::format("no {}: {}", a.by == "cost" ? "price" : "board power", some(unpriced, named_devices)));
    // Times that are ranked are relative to the fastest, whether or not it is ranked itself.
    auto const& best = a.ranking.front();
    if (std::ranges::all_of(a.ranking, [](auto const& row) { return row.relative_time > 1; }))
      out.back() += fmt::format(", the fastest of which takes {}", plain_seconds(best.time_s / best.relative_time));
  }
  return out.empty() ? "" : fmt::format("not ranked: {}", fmt::join(out, "; "));
}

// Of a process's first call of CUDA: the context and the device's memory. 0.13 s on an RTX 4070 Laptop,
// AcademySoftwareFoundation/openqmc#111.
constexpr char const* start_up = "start-up (0.1 s and more)";

// What the times contain.
std::string contained(Brief const& a) {
  if (!a.has_commands) return "times: kernels alone, without copies and the host's own";
  double host_s = 0;
  bool copies = false, operations = false, between = false;
  for (auto const& c : a.commands) {
    using record::CommandKind;
    if (c.runs_on == a.commands.front().runs_on) host_s += c.host_s;
    copies |= c.kind == CommandKind::h2d || c.kind == CommandKind::d2h;
    operations |= c.kind == CommandKind::collective;
    between |= c.kind == CommandKind::collective || c.from_device.has_value();
  }
  std::vector<std::string> parts{"launches", "kernels"};
  if (copies) parts.emplace_back("copies");
  if (operations) parts.emplace_back("NCCL's operations");
  auto const last = parts.back();
  parts.pop_back();
  auto out = fmt::format("times: {} and {}", fmt::join(parts, ", "), last);
  auto const of_host = fmt::format("{} {}", plain_seconds(host_s), a.is_application ? "here" : "as recorded");
  if (a.host.empty() || a.host == "none")
    out += fmt::format(", not the host's own ({}) nor {}", of_host, start_up);
  else
    out += fmt::format(" and the host's own ({}{}), not {}", a.host == "measured" ? "" : a.host + " times ", of_host,
                       start_up);
  if (between)
    out += a.system.empty() ? ", between devices over the host (--system)" : fmt::format(", in {}", a.system);
  if (copies) out += a.link.empty() ? ", in slots that may be half as wide (--link)" : fmt::format(", on {}", a.link);
  return out;
}

}  // namespace

std::string text_of(Brief const& a, device::DeviceDatabase const& database) {
  std::set<std::string> unvalidated;
  for (auto const& p : a.projections)
    if (p.status == record::RowStatus::unvalidated) unvalidated.insert(p.device);
  std::vector<std::string> lines{seen(a, database.find(a.ranking.front().device)), headline(a)}, below{largest(a)};
  if (auto line = left_out(a, database); !line.empty()) below.push_back(std::move(line));
  if (!a.run_as.empty()) below.push_back(a.run_as);
  if (!a.cut.empty())
    below.push_back(
        fmt::format("launches after {} ran in part (--budget): what depends on their results may be "
                    "missing, such as further launches",
                    a.cut));
  auto const top = std::min(a.ranking.size(), a.top > 0 ? a.top : lines_wanted - lines.size() - below.size() - 2);
  for (auto& line : table(a, top, unvalidated)) lines.push_back(std::move(line));
  for (auto& line : below) lines.push_back(std::move(line));
  std::string basis = fmt::format("{}; {} ranked; intervals hold 9 of 10 measured times", contained(a),
                                  counted(a.ranking.size(), "device"));
  if (std::any_of(a.ranking.begin(), a.ranking.begin() + static_cast<std::ptrdiff_t>(top),
                  [&](auto const& row) { return unvalidated.contains(row.device); }))
    basis += "; *: no device of its architecture was measured";
  // What was run is NVIDIA's; the same kernels on others need a port.
  auto const needs_port = [&](auto const& row) { return database.find(row.device).vendor != "NVIDIA"; };
  if (a.is_cuda && std::any_of(a.ranking.begin(), a.ranking.begin() + static_cast<std::ptrdiff_t>(top), needs_port))
    basis += "; devices of other vendors than NVIDIA: once the CUDA program is ported";
  lines.push_back(std::move(basis));
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

}  // namespace kernelcast::report
