#include "pictures/figure/boxplot.hpp"

#include <algorithm>

namespace kernelcast::figure {
namespace {

void draw_panel(Script& script, std::string const& title, Boxes const& boxes) {
  script.line("set title {}", quote(title));
  std::string ticks;
  int place = 0;
  for (auto const& [name, values] : boxes) {
    ++place;
    ticks += fmt::format("{}{} {}", ticks.empty() ? "" : ", ", tic(name), place);
    std::vector<std::vector<std::string>> cells;
    for (double const v : values) cells.push_back({number(v)});
    script.curve("{} using ({}):1 with boxplot lc rgb {} notitle", script.data(cells), place,
                 quote(colour(static_cast<std::size_t>(place))));
  }
  script.line("set xtics ({})", ticks);
  script.line("set xrange [0.4:{}]", number(place + 0.6));
  script.plot();
}

}  // namespace

void draw_boxes(Script& script, std::string const& label, Boxes const& left, std::string const& left_title,
                Boxes const& right, std::string const& right_title) {
  script.width_px = std::max(script.width_px, 95 * static_cast<int>(left.size() + right.size()));
  script.line("set multiplot layout 1,2{}", script.title.empty() ? std::string() : " title " + quote(script.title));
  script.line("set ylabel {}", quote(label));
  script.line("set style boxplot outliers pointtype 7");
  script.line("set pointsize 0.35");
  script.line("set bmargin 4");
  script.line("set style fill solid 0.4");
  script.line("set grid y");
  draw_panel(script, left_title, left);
  draw_panel(script, right_title, right);
  script.line("unset multiplot");
}

}  // namespace kernelcast::figure
