// The answer in a few sentences, and its figures.
#include <algorithm>
#include <map>
#include <set>

#include "base/diag/names.hpp"
#include "pictures/report/sections.hpp"

namespace kernelcast::report {

namespace {

using Row = record::PricedRanking;

Html tile(std::string_view label, Html const& value, Html const& note) {
  return markup("<div class=tile><dt>{}</dt><dd><b>{}</b>{}</dd></div>\n", label, value,
                note.empty() ? Html{} : markup("<span>{}</span>", note));
}

// The words of an order by time, cost or energy.
struct Order {
  std::string_view first, ratio;
  double (*value)(Row const&);
};

Order words_of(std::string_view order) {
  if (order == "cost") return {"cheapest", "times the cost", [](Row const& row) { return row.cost.value_or(0); }};
  if (order == "energy")
    return {"most economical", "times the energy", [](Row const& row) { return row.energy_j.value_or(0); }};
  return {"fastest", "times as long", [](Row const& row) { return row.time_s; }};
}

bool is_unvalidated(Page const& page, std::string const& device) {
  auto const unvalidated = [&](auto const& row) {
    return row.device == device && row.status == record::RowStatus::unvalidated;
  };
  return std::ranges::any_of(page.inputs.projections, unvalidated) ||
         std::ranges::any_of(page.inputs.stations, unvalidated);
}

// With the commands of an application, rank writes a second sum, of all one after the other.
bool has_commands(Page const& page) {
  return std::ranges::any_of(page.groups, [](auto const& g) { return g.kernel == "sum"; });
}

Html first_sentence(Page const& page, Group const& group) {
  auto const& best = *group.rows.front();
  auto const order = order_of(group);
  auto const range = interval_text(best);
  auto const what = !page.whole               ? "it takes"
                    : has_commands(page)      ? "all its launches, kernels and copies take"
                    : page.kernels.size() > 1 ? "all its kernels take"
                                              : "its kernel takes";
  auto const runs = runs_of(group);
  return markup(
      "<strong>{}</strong> is projected to be the {} of {} for <span class=name>{}</span>: {} "
      "<strong>{}</strong>{}{}{}.",
      page.device_name(best.device), words_of(order).first, counted(group.rows.size(), "device"), subject(group), what,
      seconds(best.time_s), range.empty() ? Html{} : markup(" (interval {})", range),
      order == "cost" && best.cost ? fmt::format(", and {} {} {}", runs.text, runs.number == 1 ? "costs" : "cost",
                                                 money(*best.cost * runs.number, best.currency))
                                   : std::string(),
      is_unvalidated(page, best.device) ? std::string("; no measurement of such a device has tested the model")
                                        : std::string());
}

Html second_sentence(Page const& page, Group const& group) {
  auto const& rows = group.rows;
  if (rows.size() == 1) return {"No other device has a time."};
  if (rows.front()->decided) return {"This is decided against all others: such an order is right 19 times of 20."};
  auto const& next = *rows[1];
  std::vector<Row const*> open;
  for (std::size_t i = 1; i < rows.size(); ++i)
    if (!rows[i]->decided) open.push_back(rows[i]);
  auto const words = words_of(order_of(group));
  auto const ratio = [&](Row const& row) { return words.value(row) / words.value(*rows.front()); };
  auto const named = [&](Row const& row) {
    return markup("{} ({}, {:.2f} {})", page.device_name(row.device), seconds(row.time_s), ratio(row), words.ratio);
  };
  if (next.decided)
    return markup("Its order against the next, {}, is decided; that against {} is not.", named(next),
                  counted(open.size(), "device") + " further down");
  double farthest = 0;
  for (auto const* row : open) farthest = std::max(farthest, ratio(*row));
  auto out = markup("Its order against the next, {}, is <strong>not decided</strong>", named(next));
  out += open.size() == 1 ? markup("; against all others it is.")
                          : markup(", nor that against {} more, up to {:.2g} {}: any of them may be the {}.",
                                   open.size() - 1, farthest, words.ratio, words.first);
  return out;
}

// Without a sum over the kernels: how often each device is the first.
Html several(Page const& page) {
  std::map<std::string, std::size_t> first;
  for (auto const& group : page.groups) ++first[group.rows.front()->device];
  std::vector<std::pair<std::string, std::size_t>> order(first.begin(), first.end());
  std::ranges::sort(order,
                    [](auto const& a, auto const& b) { return a.second != b.second ? a.second > b.second : a < b; });
  Html list;
  constexpr std::size_t most = 4;
  for (std::size_t i = 0; i < std::min(most, order.size()); ++i)
    list += markup("{}{} for {}", i ? ", " : "", page.device_name(order[i].first), order[i].second);
  if (order.size() > most) list += markup(", and {} others", order.size() - most);
  return markup(
      "<p>Of {} rankings the first device is {}. rank --total adds up the times of all kernels. The "
      "longest, <span class=name>{}</span>:</p>\n",
      page.groups.size(), list, subject(page.groups.front()));
}

}  // namespace

Html answer_section(Page const& page) {
  if (page.groups.empty()) return {};
  auto const& group = page.groups.front();
  auto const& best = *group.rows.front();
  Html body;
  if (!page.whole && page.groups.size() > 1) body += several(page);
  body += markup("<p class=answer>{}</p>\n<p class=answer2>{}</p>\n<dl class=tiles>\n", first_sentence(page, group),
                 second_sentence(page, group));
  auto const range = interval_text(best);
  body += tile("projected time", markup("{}", seconds(best.time_s)), markup("{}", range));
  auto const open = std::ranges::count_if(group.rows, [](auto const* row) { return !row->decided; }) - 1;
  body += tile("order", markup("{}", best.decided ? "decided" : "not decided"),
               best.decided || open < 1 ? markup("against {}", counted(group.rows.size() - 1, "device"))
                                        : markup("against {} of {}", open, counted(group.rows.size() - 1, "device")));
  if (!page.kernels.empty()) {
    auto const& longest = page.kernels.front();
    body += tile("largest kernel", name(function_name(longest.kernel), demangled(longest.kernel)),
                 markup("{} of {} {}", percent(longest.time_s / page.kernels_s),
                        has_commands(page) ? "the kernels' time" : "the time", limiter(longest.limiter)));
  }
  Row const *cheapest = nullptr, *least = nullptr;
  for (auto const* row : group.rows) {
    if (row->cost && (!cheapest || *row->cost < *cheapest->cost)) cheapest = row;
    if (row->energy_j && (!least || *row->energy_j < *least->energy_j)) least = row;
  }
  if (cheapest)
    body += tile(fmt::format("least cost of {}", runs_of(group).text),
                 markup("{}", money(*cheapest->cost * runs_of(group).number, cheapest->currency)),
                 markup("{}, {}", page.device_name(cheapest->device), seconds(cheapest->time_s)));
  if (least)
    body += tile("least energy, at most", markup("{}", quantity(*least->energy_j, "J")),
                 markup("{}, {}", page.device_name(least->device), seconds(least->time_s)));
  body += {"</dl>\n"};
  return section("answer", "Answer", "", body);
}

}  // namespace kernelcast::report
