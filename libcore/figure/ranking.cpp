// Bars of relative time, the fastest device on top; the colour says what limits the device there.
#include <algorithm>
#include <tuple>

#include "figure/kinds.hpp"
#include "record/ranking.hpp"

namespace kernelcast::figure {
namespace {

constexpr std::size_t max_ranking_panels = 12;
constexpr int ranking_panels_across = 3;

struct Panel {
  std::string title;
  std::vector<record::Ranking> rows;
};

std::vector<Panel> panels_of(Rows& rows) {
  std::vector<Panel> panels;
  for (auto& row : rows.all<record::Ranking>()) {
    auto title = row.kernel == row.case_name ? row.kernel : row.kernel + " " + row.case_name;
    title += " (" + row.model + ")";
    auto found = std::find_if(panels.begin(), panels.end(), [&](Panel const& p) { return p.title == title; });
    if (found == panels.end()) found = panels.insert(panels.end(), Panel{title, {}});
    found->rows.push_back(std::move(row));
  }
  if (panels.size() > max_ranking_panels)
    throw Error(Status::bad_data, fmt::format("{} rankings are too many for one figure", panels.size()),
                fmt::format("choose at most {} by --where kernel=…, case=… or model=…", max_ranking_panels));
  for (auto& panel : panels)
    std::sort(panel.rows.begin(), panel.rows.end(),
              [](auto const& a, auto const& b) { return std::tie(a.rank, a.device) < std::tie(b.rank, b.device); });
  return panels;
}

std::vector<std::string> limiters_of(std::vector<Panel> const& panels) {
  std::vector<std::string> out;
  for (auto const& panel : panels)
    for (auto const& row : panel.rows)
      if (std::find(out.begin(), out.end(), row.limiter.text()) == out.end()) out.push_back(row.limiter.text());
  std::sort(out.begin(), out.end());
  return out;
}

void draw_panel(Script& script, Panel const& panel, std::vector<std::string> const& limiters) {
  std::vector<std::vector<std::string>> cells;
  auto place = static_cast<double>(panel.rows.size());
  for (auto const& row : panel.rows) {
    auto const limiter = std::find(limiters.begin(), limiters.end(), row.limiter.text()) - limiters.begin();
    cells.push_back({number(place), number(row.relative_time), number(static_cast<double>(limiter)), cell(row.device)});
    place -= 1;
  }
  auto const data = script.data(cells);
  script.line("set title {}", quote(panel.title));
  script.line("set yrange [0.4:{}]", number(static_cast<double>(panel.rows.size()) + 0.6));
  for (std::size_t i = 0; i < limiters.size(); ++i)
    script.curve(
        "{} using ($3=={} ? $2/2 : NaN):1:($2/2):(0.38):ytic(4) with boxxyerror fs solid 0.85 noborder lc rgb {} "
        "title {}",
        data, i, quote(colour(i)), quote(limiters[i].empty() ? "time" : limiters[i]));
  script.curve("{} using 2:1:(sprintf(\" %.3g\", $2)) with labels left font \",9\" notitle", data);
  script.plot();
}

}  // namespace

void draw_ranking(Rows& rows, Script& script) {
  auto const panels = panels_of(rows);
  auto const limiters = limiters_of(panels);
  int const across = std::min<int>(ranking_panels_across, static_cast<int>(panels.size()));
  int const down = (static_cast<int>(panels.size()) + across - 1) / across;
  std::size_t most = 0;
  for (auto const& panel : panels) most = std::max(most, panel.rows.size());
  script.width_px = std::max(script.width_px, 420 * across);
  script.height_px = down * (140 + 17 * static_cast<int>(most));
  script.line("set multiplot layout {},{}{}", down, across,
              script.title.empty() ? std::string() : " title " + quote(script.title));
  script.line("set xlabel \"time relative to the fastest\"");
  script.line("set xrange [0:*<1000]");
  script.line("set offsets 0, graph 0.12, 0, 0");
  script.line("set key {}", limiters.size() > 1 ? "outside bottom center horizontal samplen 1" : "off");
  script.line("set grid x");
  script.line("set ytics scale 0 font \",9\"");
  for (auto const& panel : panels) draw_panel(script, panel, limiters);
  script.line("unset multiplot");
}

}  // namespace kernelcast::figure
