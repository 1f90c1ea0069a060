// Devices with their times and intervals: a table whose rows are drawn on one scale.
#include <algorithm>

#include "pictures/report/sections.hpp"

namespace kernelcast::report {

namespace {

using Row = record::PricedRanking;

constexpr std::size_t unfolded_devices = 12, shown_rankings = 12;

struct Columns {
  bool interval = false, limiter = false, cost = false, energy = false;
  Runs runs;
};

Columns columns_of(Group const& group) {
  Columns out;
  out.runs = runs_of(group);
  for (auto const* row : group.rows) {
    out.interval |= row->time_low_s.has_value();
    out.limiter |= !row->limiter.empty();
    out.cost |= row->cost.has_value();
    out.energy |= row->energy_j.has_value();
  }
  return out;
}

Html cell(std::string_view kind, std::string_view label, Html const& content) {
  return markup("<td role=cell class=\"{}\" data-label=\"{}\">{}</td>", kind, label, content);
}

Html plot(Row const& row, Axis const& axis) {
  auto const time = axis.at(row.time_s);
  Html range;
  if (row.time_low_s && row.time_high_s) {
    auto const low = axis.at(*row.time_low_s);
    range = markup("<rect class=range x=\"{:.2f}%\" y=7 width=\"{:.2f}%\" height=8 rx=4 />", low,
                   std::max(axis.at(*row.time_high_s) - low, 0.3));
  } else if (!axis.is_logarithmic()) {
    range = markup("<rect class=range x=0 y=7 width=\"{:.2f}%\" height=8 />", time);
  }
  return markup(
      "<td role=cell class=plot aria-hidden=true><div><svg width=\"100%\" height=22 class={}>{}<circle cx=\"{:.2f}%\" "
      "cy=11 r=5.5 "
      "/></svg></div></td>",
      limiter_class(row.limiter.text()), range, time);
}

Html row_of(Page const& page, Row const& row, bool first, Columns const& columns, Axis const& axis) {
  auto const full = page.device_name(row.device);
  Html out = markup("<tr role=row{}>", Html{first ? " class=best" : ""});
  out += cell("rank", "rank", markup("{}", row.rank));
  out += markup("<th role=rowheader scope=row class=device>{}{}</th>", name(full),
                full == row.device ? Html{} : markup(" <code>{}</code>", row.device));
  out += plot(row, axis);
  out += cell("time", "time", markup("{}", seconds(row.time_s)));
  if (columns.interval) out += cell("more", "interval", markup("{}", interval_text(row)));
  out += cell("more num", "relative", markup("{:.2f}×", row.relative_time));
  out += cell("more", "decided", row.decided ? Html{"yes"} : Html{"<span class=open>no</span>"});
  if (columns.limiter) out += cell("more", "limiter", limiter(row.limiter.text()));
  if (columns.cost)
    out += cell(row.cost ? "more num" : "more num none", "cost",
                row.cost ? markup("{}", money(*row.cost * columns.runs.number, row.currency)) : Html{"–"});
  if (columns.energy)
    out += cell(row.energy_j ? "more num" : "more num none", "energy",
                row.energy_j ? markup("≤ {}", quantity(*row.energy_j, "J")) : Html{"–"});
  return out += {"</tr>\n"};
}

// Of these rows: those that are folded would leave the first ones little room.
Axis axis_of(Group const& group, std::size_t from, std::size_t to) {
  std::vector<double> values;
  for (std::size_t i = from; i < to; ++i) {
    auto const* row = group.rows[i];
    values.push_back(row->time_s);
    if (row->time_low_s) values.push_back(*row->time_low_s);
    if (row->time_high_s) values.push_back(*row->time_high_s);
  }
  std::erase_if(values, [](double v) { return v <= 0; });
  return Axis::over(values);
}

Html table_of(Page const& page, Group const& group, std::size_t from, std::size_t to, std::string const& id,
              std::string const& caption) {
  auto const axis = axis_of(group, from, to);
  auto const columns = columns_of(group);
  Html out = markup(
      "{}<table role=table class=ranking id=\"{}\"><caption>{}</caption>\n<thead role=rowgroup><tr role=row>"
      "<th role=columnheader scope=col>#</th><th role=columnheader scope=col>device</th>"
      "<th role=columnheader scope=col class=plot aria-label=\"drawing of the times\">{}</th>",
      axis_lines(axis, id), id, caption, axis_labels(axis, tick_seconds));
  auto const head = [&](std::string_view kind, std::string_view text) {
    out += markup("<th role=columnheader scope=col class={}>{}</th>", kind, text);
  };
  head("num", "time");
  if (columns.interval) head("left", "interval");
  head("num", "relative");
  head("left", "decided");
  if (columns.limiter) head("left", "limiter");
  if (columns.cost) head("num", fmt::format("cost of {}", columns.runs.text));
  if (columns.energy) head("num", "energy");
  out += {"</tr></thead>\n<tbody role=rowgroup>\n"};
  for (std::size_t i = from; i < to; ++i)
    out += row_of(page, *group.rows[i], group.rows[i] == group.rows.front(), columns, axis);
  return out += {"</tbody></table>\n"};
}

// `all`: also the devices beyond the first ones, folded.
Html group_body(Page const& page, Group const& group, std::string const& id, bool all) {
  auto const n = group.rows.size();
  // One row more is no reason to fold.
  auto const shown = n <= unfolded_devices + 1 ? n : unfolded_devices;
  auto const caption = fmt::format("{}, by {} ({})", subject(group), order_of(group), group.model);
  auto out = table_of(page, group, 0, shown, id, caption);
  if (shown < n && !all)
    out += markup("<p class=note>{} more are in the ranking, up to {:.3g} times as long.</p>\n",
                  counted(n - shown, "device"), group.rows.back()->relative_time);
  else if (shown < n)
    out += markup("<details><summary>{} more, up to {:.3g} times as long</summary>\n{}</details>\n",
                  counted(n - shown, "device"), group.rows.back()->relative_time,
                  table_of(page, group, shown, n, id + "-more", caption + ", the rest"));
  return out;
}

}  // namespace

Html ranking_section(Page const& page) {
  if (page.groups.empty()) return {};
  auto body = group_body(page, page.groups.front(), "ranking-1", true);
  auto const others = std::min(page.groups.size(), shown_rankings);
  for (std::size_t i = 1; i < others; ++i) {
    auto const& group = page.groups[i];
    auto const& best = *group.rows.front();
    body += markup("<details><summary><span class=name>{}</span> ({}): {}, {}</summary>\n{}</details>\n",
                   subject(group), group.model, page.device_name(best.device), seconds(best.time_s),
                   group_body(page, group, fmt::format("ranking-{}", i + 1), false));
  }
  if (page.groups.size() > others)
    body += markup("<p class=note>{} with shorter times are not shown; a report of their rows alone shows them.</p>\n",
                   counted(page.groups.size() - others, "ranking"));
  return section(
      "devices", "Devices",
      "A dot is the projected time, the band behind it the interval; the colour says what limits the device. "
      "Scales that do not begin at 0 are logarithmic.",
      body);
}

}  // namespace kernelcast::report
