// Measured against predicted values of held-out samples, a panel per device; on the dotted line they agree.
// [braun] figures 5.5, 5.6, 5.9, 5.10.
#include <algorithm>
#include <limits>
#include <map>

#include "pictures/figure/kinds.hpp"
#include "records/forest.hpp"

namespace kernelcast::figure {
namespace {

constexpr std::size_t max_predicted_panels = 24;
constexpr int predicted_panels_across = 4;
constexpr double max_numbered_span = 1e4;  // of the times; beyond, every other is numbered

}  // namespace

void draw_predicted(Rows& rows, Script& script) {
  std::map<std::string, std::vector<std::vector<std::string>>> points;
  bool times = true;
  double shortest_s = std::numeric_limits<double>::max(), longest_s = 0;
  for (auto const& row : rows.all<record::HeldOut>()) {
    times = row.time_s.has_value();
    auto const measured = times ? row.measured_s : row.measured_w;
    auto const predicted = times ? row.time_s : row.power_w;
    if (!measured || !predicted) continue;
    points[row.device].push_back({number(*measured), number(*predicted)});
    shortest_s = std::min(shortest_s, *measured);
    longest_s = std::max(longest_s, *measured);
  }
  if (points.size() > max_predicted_panels)
    throw Error(Status::bad_data, fmt::format("{} devices are too many for one figure", points.size()),
                fmt::format("choose at most {} by --where device=…", max_predicted_panels));
  if (points.empty()) throw Error(Status::bad_data, "no row has both values", "mangrove validate --emit predictions");
  int const across = std::min<int>(predicted_panels_across, static_cast<int>(points.size()));
  int const down = (static_cast<int>(points.size()) + across - 1) / across;
  script.width_px = std::max(across == 1 ? 560 : 0, 340 * across);
  script.height_px = across == 1 ? 560 : 340 * down;
  script.line("set multiplot layout {},{}{}", down, across,
              script.title.empty() ? std::string() : " title " + quote(script.title));
  script.line("set key off");
  script.line("set grid");
  script.line("set size square");
  if (times) script.line("set logscale xy");
  if (times) script.line("set format xy \"1e%T\"");
  if (times && longest_s > max_numbered_span * shortest_s) script.line("set xtics 100");
  script.line("set xlabel \"measured ({})\"", times ? "s" : "W");
  script.line("set ylabel \"predicted ({})\"", times ? "s" : "W");
  for (auto const& [device, cells] : points) {
    auto const data = script.data(cells);
    script.line("set title {}", quote(device));
    script.line("plot {} using 1:2 with points pt 7 ps 0.4 lc rgb {}, x with lines dt 3 lc rgb \"black\"", data,
                quote(colour(0)));
  }
  script.line("unset multiplot");
}

}  // namespace kernelcast::figure
