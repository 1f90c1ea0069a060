// Bars of relative time with the ends of its interval, the fastest device on top; the colour says what limits the
// device there. Where a time is more than ten times that of the fastest, the scale is logarithmic and bars begin at 1:
// their lengths are ratios.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/diag/names.hpp"
#include "pictures/figure/kinds.hpp"
#include "records/ranking.hpp"

namespace kernelcast::figure {
namespace {

constexpr std::size_t max_ranking_panels = 12;
constexpr int ranking_panels_across = 3;
constexpr double ranking_linear_range = 10;

struct Panel {
  std::string title;
  std::vector<record::Ranking> rows;
};

std::vector<Panel> panels_of(Rows& rows) {
  std::vector<Panel> panels;
  for (auto& row : rows.all<record::Ranking>()) {
    auto const kernel = function_name(row.kernel);
    auto title = row.kernel == row.case_name ? kernel : kernel + " " + row.case_name;
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

double fastest_s(Panel const& panel) {
  return panel.rows.front().time_s / panel.rows.front().relative_time;
}

// Of the interval, over the time of the fastest; where it is not known, of the time itself.
struct Ends {
  bool known = false;
  double low = 0, high = 0;
};

Ends ends_of(record::Ranking const& row, double of_s) {
  if (!row.time_low_s || !row.time_high_s) return {false, row.relative_time, row.relative_time};
  return {true, *row.time_low_s / of_s, *row.time_high_s / of_s};
}

void draw_panel(Script& script, Panel const& panel, std::vector<std::string> const& limiters, bool logarithmic) {
  std::vector<std::vector<std::string>> cells;
  bool has_intervals = false;
  auto place = static_cast<double>(panel.rows.size());
  for (auto const& row : panel.rows) {
    auto const limiter = std::find(limiters.begin(), limiters.end(), row.limiter.text()) - limiters.begin();
    auto const ends = ends_of(row, fastest_s(panel));
    cells.push_back({number(place), number(row.relative_time), number(static_cast<double>(limiter)), cell(row.device),
                     ends.known ? number(ends.low) : "NaN", ends.known ? number(ends.high) : "NaN", number(ends.high)});
    has_intervals |= ends.known;
    place -= 1;
  }
  auto const data = script.data(cells);
  script.line("set title {}", quote(panel.title));
  script.line("set yrange [0.4:{}]", number(static_cast<double>(panel.rows.size()) + 0.6));
  for (std::size_t i = 0; i < limiters.size(); ++i)
    script.curve(
        "{} using ($3=={} ? $2 : NaN):1:({}):2:($1-0.38):($1+0.38):ytic(4) with boxxyerror fs solid 0.85 noborder lc "
        "rgb {} title {}",
        data, i, logarithmic ? 1 : 0, quote(colour(i)), quote(limiters[i].empty() ? "time" : limiters[i]));
  if (has_intervals) script.curve("{} using 2:1:5:6 with xerrorbars pt 7 ps 0.3 lw 1 lc rgb \"#333333\" notitle", data);
  script.curve("{} using 7:1:(sprintf(\" %.3g\", $2)) with labels left font \",9\" notitle", data);
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
  double slowest = 1, low = 1, high = 1;  // over the time of the fastest; low and high also of intervals
  bool intervals = false;
  for (auto const& panel : panels)
    for (auto const& row : panel.rows) {
      auto const ends = ends_of(row, fastest_s(panel));
      intervals |= ends.known;
      slowest = std::max(slowest, row.relative_time);
      low = std::min(low, ends.low);
      high = std::max(high, ends.high);
    }
  script.line("set xlabel \"{}\"", intervals ? "relative time; lines are intervals" : "time relative to the fastest");
  bool const logarithmic = slowest > ranking_linear_range && low > 0;
  if (logarithmic) {
    script.line("set logscale x");
    script.line("set xrange [{:.3g}:{:.3g}]", low * 0.8, high * std::pow(high / low, 0.12));  // room for labels
  } else {
    script.line("set xrange [0:*]");
    script.line("set offsets 0, graph 0.12, 0, 0");
  }
  script.line("set key {}", limiters.size() > 1 ? "outside top center horizontal samplen 1" : "off");
  script.line("set grid x");
  script.line("set ytics scale 0 font \",9\"");
  for (auto const& panel : panels) draw_panel(script, panel, limiters, logarithmic);
  script.line("unset multiplot");
}

}  // namespace kernelcast::figure
