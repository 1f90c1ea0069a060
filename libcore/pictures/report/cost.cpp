// What a run costs on the devices that have a price.
#include <algorithm>
#include <tuple>

#include "pictures/report/sections.hpp"

namespace kernelcast::report {

Html cost_section(Page const& page) {
  if (page.groups.empty()) return {};
  std::vector<record::PricedRanking const*> rows;
  for (auto const* row : page.groups.front().rows)
    if (row->cost) rows.push_back(row);
  if (rows.empty()) return {};
  std::ranges::sort(rows, {}, [](auto const* row) { return std::tie(*row->cost, row->time_s, row->device); });
  constexpr std::size_t most = 12;
  std::vector<double> costs;
  for (auto const* row : rows)
    if (*row->cost > 0) costs.push_back(*row->cost);
  double const highest = costs.empty() ? 1 : std::ranges::max(costs);
  auto const runs = runs_of(page.groups.front());
  auto body = markup(
      "<div class=wide><table class=plain><caption>costs, the cheapest first</caption>\n<thead><tr>"
      "<th scope=col>device</th><th scope=col class=bar aria-label=\"drawing of the costs\"></th><th scope=col "
      "class=num>{}</th>"
      "<th scope=col class=num>time</th><th scope=col class=num>an hour</th><th scope=col class=num>devices</th>"
      "<th scope=col>offer</th></tr></thead>\n<tbody>\n",
      "cost of " + std::string(runs.text));
  for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) {
    auto const& row = *rows[i];
    std::string offer = row.provider;
    for (auto const& more : {row.region, row.as_of})
      if (!more.empty()) offer += (offer.empty() ? "" : ", ") + more;
    body += markup(
        "<tr><th scope=row>{}</th><td class=bar aria-hidden=true><span class=l-issue "
        "style=\"width:{:.1f}%\"></span></td>"
        "<td class=num>{}</td><td class=num>{}</td><td class=num>{}</td><td class=num>{}</td><td>{}</td></tr>\n",
        name(page.device_name(row.device)), bar_width(*row.cost, highest), money(*row.cost * runs.number, row.currency),
        seconds(row.time_s), row.price_per_hour ? money(*row.price_per_hour, row.currency) : std::string(),
        row.gpus_per_instance.value_or(1), offer);
  }
  body += {"</tbody></table></div>\n"};
  if (rows.size() > most) body += markup("<p class=note>{} cost more.</p>\n", counted(rows.size() - most, "device"));
  return section("cost", "Cost",
                 "The price of the whole instance over the projected time. What an instance costs while it starts, "
                 "loads data or waits is not in it.",
                 body);
}

}  // namespace kernelcast::report
