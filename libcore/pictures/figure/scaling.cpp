// Time over the number of GPUs, divided by the problem size, a line for each size, as in Figures 3.10 to 3.12 of
// [braun]; a panel for each application, GPU and system.
#include <algorithm>
#include <map>
#include <tuple>

#include "pictures/figure/kinds.hpp"
#include "records/simulation.hpp"

namespace kernelcast::figure {
namespace {

constexpr std::size_t max_scaling_panels = 12, max_scaling_lines = 40;
constexpr int scaling_panels_across = 3;

using Panels = std::map<std::tuple<std::string, std::string, std::string>,
                        std::map<double, std::vector<std::pair<double, double>>>>;

}  // namespace

void draw_scaling(Rows& rows, Script& script) {
  Panels panels;
  for (auto const& row : rows.all<record::Simulation>())
    if (row.time_s && row.n > 0)
      panels[{row.app, row.gpu, row.system}][row.n].emplace_back(static_cast<double>(row.gpus), *row.time_s / row.n);
  if (panels.empty()) throw Error(Status::bad_data, "no row has a time", "partsim writes them");
  if (panels.size() > max_scaling_panels)
    throw Error(Status::bad_data, fmt::format("{} panels are too many for one figure", panels.size()),
                fmt::format("choose at most {} by --where app=…, gpu=… or system=…", max_scaling_panels));
  int const across = std::min<int>(scaling_panels_across, static_cast<int>(panels.size()));
  int const down = (static_cast<int>(panels.size()) + across - 1) / across;
  script.width_px = std::max(script.width_px, 440 * across);
  script.height_px = 60 + 380 * down;
  script.line("set multiplot layout {},{}{}", down, across,
              script.title.empty() ? std::string() : " title " + quote(script.title));
  script.line("set xlabel \"GPUs\"");
  script.line("set ylabel \"time / n (s)\"");
  script.line("set logscale y");
  script.line("set format y \"%.0e\"");
  script.line("set grid");
  script.line("set key right top font \",8\" samplen 1");
  for (auto& [key, lines] : panels) {
    auto const& [app, gpu, system] = key;
    if (lines.size() > max_scaling_lines)
      throw Error(Status::bad_data, fmt::format("{} sizes are too many for one panel", lines.size()),
                  fmt::format("choose at most {} by --where n=…", max_scaling_lines));
    script.line("set title {}", quote(fmt::format("{}, {} on {}", app, gpu, system)));
    std::size_t i = 0;
    for (auto& [n, points] : lines) {
      std::sort(points.begin(), points.end());
      std::vector<std::vector<std::string>> cells;
      for (auto const& [gpus, time] : points) cells.push_back({number(gpus), number(time)});
      script.curve("{} using 1:2 with linespoints pt 7 ps 0.4 lc rgb {} title {}", script.data(cells), quote(colour(i)),
                   quote(number(n)));
      ++i;
    }
    script.plot();
  }
  script.line("unset multiplot");
}

}  // namespace kernelcast::figure
