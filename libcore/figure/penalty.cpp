// What the choices of each model lose, as box plots over applications and over systems; Figures 3.15 and 3.16 of
// [braun].
#include <algorithm>
#include <map>

#include "figure/kinds.hpp"
#include "record/fit.hpp"

namespace kernelcast::figure {
namespace {

using Boxes = std::map<std::string, std::vector<double>>;

void draw_panel(Script& script, std::string const& title, Boxes const& boxes) {
  script.line("set title {}", quote(title));
  std::string ticks, plot;
  int place = 0;
  for (auto const& [name, values] : boxes) {
    ++place;
    ticks += fmt::format("{}{} {}", ticks.empty() ? "" : ", ", quote(name), place);
    std::vector<std::vector<std::string>> cells;
    for (double const v : values) cells.push_back({number(v)});
    plot += fmt::format("{}{} using ({}):1 with boxplot lc rgb {} notitle", plot.empty() ? "" : ", ",
                        script.data(cells), place, quote(colour(static_cast<std::size_t>(place))));
  }
  script.line("set xtics ({})", ticks);
  script.line("set xrange [0.4:{}]", place + 0.6);
  script.line("plot {}", plot);
}

}  // namespace

void draw_penalty(Rows& rows, Script& script) {
  Boxes by_app, by_system;
  std::map<std::string, int> models;
  auto const all = rows.all<record::Penalty>();
  for (auto const& row : all) ++models[row.model];
  for (auto const& row : all) {
    auto const with_model = [&](std::string const& name) { return models.size() > 1 ? name + "\n" + row.model : name; };
    by_app[with_model(row.app)].push_back(1 + row.penalty_pct / 100);
    by_system[with_model(row.system)].push_back(1 + row.penalty_pct / 100);
  }
  script.width_px = std::max(script.width_px, 80 * static_cast<int>(by_app.size() + by_system.size()));
  script.line("set multiplot layout 1,2{}", script.title.empty() ? std::string() : " title " + quote(script.title));
  script.line("set ylabel \"time of the choice / least time\"");
  script.line("set style boxplot nooutliers");
  script.line("set style fill solid 0.4");
  script.line("set grid y");
  script.line("set yrange [0.99:*]");
  draw_panel(script, "by application", by_app);
  draw_panel(script, "by system", by_system);
  script.line("unset multiplot");
}

}  // namespace kernelcast::figure
