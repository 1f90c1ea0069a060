// The rows joined, and the page around its sections.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/diag/names.hpp"
#include "pictures/report/sections.hpp"
#include "pictures/report/style.hpp"

namespace kernelcast::report {

namespace {

std::vector<Group> groups_of(Inputs const& inputs) {
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> places;
  std::vector<Group> out;
  for (auto const& row : inputs.rankings) {
    auto const [at, is_new] = places.try_emplace({row.model, row.kernel, row.case_name}, out.size());
    if (is_new) out.push_back({row.model, row.kernel, row.case_name, {}});
    out[at->second].rows.push_back(&row);
  }
  for (auto& group : out)
    std::ranges::sort(group.rows, {}, [](auto const* row) { return std::tie(row->rank, row->device); });
  // Sums first, that of most first: its times are the longest; then the longest kernel.
  std::ranges::sort(out, {}, [&](Group const& g) {
    return std::tuple(g.kernel != "total", -g.rows.front()->time_s, places.at({g.model, g.kernel, g.case_name}));
  });
  return out;
}

std::string shortest_time(Inputs const& inputs) {
  std::map<std::string, std::pair<std::size_t, double>> sums;  // kernels without which a sum is less, and the time
  auto const add = [&](std::string const& device, std::optional<double> time_s) {
    auto& [n, sum] = sums[device];
    ++n;
    sum += time_s.value_or(0);
    if (!time_s) n = 0;
  };
  for (auto const& row : inputs.projections) add(row.device, row.time_s);
  if (sums.empty())
    for (auto const& row : inputs.stations) add(row.device, row.time_s);
  std::string best;
  for (auto const& [device, sum] : sums)
    if (sum.first > 0 && (best.empty() || std::pair(-static_cast<double>(sum.first), sum.second) <
                                              std::pair(-static_cast<double>(sums[best].first), sums[best].second)))
      best = device;
  return best;
}

using KernelCase = std::pair<std::string, std::string>;

std::vector<KernelTime> kernels_on(std::string const& device, Page const& page) {
  auto const& inputs = page.inputs;
  std::map<KernelCase, record::Stations const*> stations;
  for (auto const& row : inputs.stations)
    if (row.device == device) stations.try_emplace({row.kernel, row.case_name}, &row);
  std::map<std::string, KernelTime> by_name;
  std::map<std::string, double> longest;
  std::set<std::string> known;
  auto const add = [&](auto const& row, record::Projection const* projection) {
    if (row.device != device || !row.time_s) return;
    auto const name = region_of_kernel(row.kernel);
    auto& kernel = by_name[name];
    kernel.kernel = name;
    kernel.time_s += *row.time_s;
    kernel.clones += known.insert(row.kernel).second ? 1 : 0;
    ++kernel.cases;
    if (kernel.cases > 1 && *row.time_s <= longest[name]) return;
    longest[name] = *row.time_s;
    kernel.longest = projection;
    kernel.longest_case = row.case_name;
    kernel.limiter = row.limiter.text();
    auto const at = stations.find({row.kernel, row.case_name});
    kernel.stations = at == stations.end() ? nullptr : at->second;
  };
  std::string const model = inputs.projections.empty() ? "" : inputs.projections.front().model;
  for (auto const& row : inputs.projections)
    if (row.model == model) add(row, &row);
  if (inputs.projections.empty())
    for (auto const& row : inputs.stations) add(row, nullptr);
  for (auto const& row : inputs.kernels)
    if (auto const at = by_name.find(region_of_kernel(row.kernel)); at != by_name.end() && page.is_of_best(row)) {
      at->second.launches += static_cast<double>(row.launches);
      at->second.source = row.source;
      at->second.source_text = row.source_text;
    }
  std::vector<KernelTime> out;
  for (auto& [name, kernel] : by_name) out.push_back(std::move(kernel));
  std::ranges::sort(out, {},
                    [](auto const& kernel) { return std::pair(-kernel.time_s, std::string_view(kernel.kernel)); });
  return out;
}

std::string default_title(Page const& page) {
  if (page.groups.empty()) return "Projected times";
  return page.whole || page.groups.size() == 1 ? subject(page.groups.front()) : counted(page.groups.size(), "ranking");
}

constexpr char const* policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

}  // namespace

device::Device const* Page::device(std::string const& id) const {
  auto const& all = database.devices();
  auto const found = std::ranges::find_if(all, [&](auto const& d) { return d.device == id; });
  return found == all.end() ? nullptr : &*found;
}

bool Page::is_of_best(record::Kernel const& row) const {
  auto const* const known = device(best);
  return !known || !device::is_for_others(row.runs_on, *known);
}

std::string Page::device_name(std::string const& id) const {
  auto const* const known = device(id);
  if (!known || known->name.empty()) return id;
  return known->name.starts_with(known->vendor) ? known->name : known->vendor + " " + known->name;
}

Page page_of(Inputs const& inputs, device::DeviceDatabase const& database, Options const& options) {
  Page out{inputs, database, options, groups_of(inputs), false, {}, {}, 0};
  out.whole = !out.groups.empty() && out.groups.front().kernel == "total";
  out.best = out.groups.empty() ? shortest_time(inputs) : out.groups.front().rows.front()->device;
  out.kernels = kernels_on(out.best, out);
  for (auto const& kernel : out.kernels) out.kernels_s += kernel.time_s;
  return out;
}

std::string subject(Group const& group) {
  if (group.kernel == "total") return group.case_name.empty() ? "all kernels" : group.case_name;
  auto const kernel = function_name(group.kernel);
  return group.case_name.empty() || group.case_name == group.kernel ? kernel : kernel + ", " + group.case_name;
}

std::string_view order_of(Group const& group) {
  auto const ordered = [&](auto value) {
    return std::ranges::is_sorted(group.rows, {}, [&](auto const* row) { return value(*row); });
  };
  if (ordered([](auto const& row) { return row.time_s; })) return "time";
  if (ordered([](auto const& row) { return row.cost.value_or(0); })) return "cost";
  return "energy";
}

std::string interval_text(record::Ranking const& row) {
  if (!row.time_low_s || !row.time_high_s) return {};
  auto low = seconds(*row.time_low_s);
  auto const high = seconds(*row.time_high_s);
  constexpr std::string_view space = "\u00a0";
  if (low.substr(low.find(space)) == high.substr(high.find(space))) low.resize(low.find(space));  // one unit
  return fmt::format("{} to {}", low, high);
}

Runs runs_of(Group const& group) {
  double least = 0;
  for (auto const* row : group.rows)
    if (row->cost && *row->cost > 0 && (least == 0 || *row->cost < least)) least = *row->cost;
  return least > 0 ? runs_for(least) : Runs{};
}

Html section(std::string_view id, std::string_view title, std::string_view lead, Html const& body) {
  return markup("<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}</h2>\n{2}{3}</section>\n",
                id, title, lead.empty() ? Html{} : markup("<p class=lead>{}</p>\n", lead), body);
}

Html axis_labels(Axis const& axis, std::string (*text)(double)) {
  Html out{"<svg class=axis width=\"100%\" height=16 aria-hidden=true>"};
  for (auto const& tick : axis.ticks(4))
    out += markup("<text x=\"{:.2f}%\" y=12 text-anchor={}>{}</text>", tick.at,
                  tick.at < 6    ? "start"
                  : tick.at > 94 ? "end"
                                 : "middle",
                  text(tick.value));
  out += {"</svg>"};
  return out;
}

Html axis_lines(Axis const& axis, std::string_view id) {
  Html layers;
  for (auto const& tick : axis.ticks(4))
    layers += markup("{}linear-gradient(var(--grid),var(--grid)) {:.2f}% 0/1px 100% no-repeat",
                     layers.empty() ? "" : ",", tick.at);
  return layers.empty() ? Html{} : markup("<style>#{} .plot>div{{background:{}}}</style>", id, layers);
}

std::string tick_seconds(double value) {
  return value == 0 ? std::string("0") : without_zeros(seconds(value));
}

std::string page(Inputs const& inputs, device::DeviceDatabase const& database, Options const& options) {
  auto const joined = page_of(inputs, database, options);
  auto const rows = inputs.kernels.size() + inputs.projections.size() + inputs.stations.size() +
                    inputs.rankings.size() + inputs.lines.size() + inputs.assignments.size();
  if (rows == 0) throw Error(Status::bad_data, "no row to report", "the inputs have headers only");
  auto const title = options.title.empty() ? default_title(joined) : options.title;
  Html body;
  for (auto const part : {answer_section, ranking_section, cost_section, kernels_section, roofline_section,
                          lines_section, schedule_section, basis_section})
    body += part(joined);
  return markup(
             "<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n<title>{0} – kernelcast</title>\n"
             "<meta name=viewport content=\"width=device-width, initial-scale=1\">\n"
             "<meta name=color-scheme content=\"light dark\">\n<meta http-equiv=Content-Security-Policy "
             "content=\"{1}\">\n<style>\n{2}</style>\n</head>\n<body>\n<header>\n<p class=suite>kernelcast report</p>\n"
             "<h1>{0}</h1>\n</header>\n<main>\n{3}</main>\n</body>\n</html>\n",
             title, Html{policy}, Html{std::string(style)}, body)
      .text;
}

}  // namespace kernelcast::report
