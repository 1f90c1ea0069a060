// How far predictions of held-out samples are off: boxes of the relative error per device (median, quartiles, whiskers
// of 1.5 times their distance), and the share of samples in classes of error. [braun] figures 5.5, 5.7, 5.8.
#include <algorithm>
#include <array>
#include <map>

#include "pictures/figure/kinds.hpp"
#include "records/forest.hpp"

namespace kernelcast::figure {
namespace {

// Upper ends of the classes in percent; the last has none. Those of figure 5.5.
constexpr std::array class_ends{5.0, 10.0, 25.0, 50.0, 75.0, 100.0};

constexpr double min_shown = 0.01;  // percent; the axis is logarithmic

std::string class_name(std::size_t i) {
  if (i == class_ends.size()) return fmt::format("> {} %", class_ends.back());
  return fmt::format("{} to {} %", i == 0 ? 0 : class_ends.at(i - 1), class_ends.at(i));
}

void draw_boxes(Script& script, std::map<std::string, std::vector<double>> const& errors) {
  std::string labels;
  double place = 0;
  for (auto const& [device, values] : errors) {
    place += 1;
    std::vector<std::vector<std::string>> cells;
    for (double const error : values) cells.push_back({number(std::max(error, min_shown))});
    labels += fmt::format("{}{} {}", labels.empty() ? "" : ", ", tic(device), number(place));
    script.curve("{} using ({}):1:(0.6) with boxplot lc rgb {}", script.data(cells), number(place), quote(colour(0)));
  }
  script.line("set ylabel \"error (%)\"");
  script.line("set logscale y");
  script.line("set xtics rotate by 40 right font \",9\" ({})", labels);
  script.line("set xrange [0.3:{}]", number(place + 0.7));
  script.line("set style boxplot range 1.5 outliers pointtype 7");
  script.plot();
  script.line("unset logscale y");
}

void draw_classes(Script& script, std::map<std::string, std::vector<double>> const& errors) {
  std::vector<double> counts(class_ends.size() + 1);
  double all = 0;
  for (auto const& [device, values] : errors)
    for (double const error : values) {
      auto const end = std::find_if(class_ends.begin(), class_ends.end(), [&](double most) { return error <= most; });
      counts[static_cast<std::size_t>(end - class_ends.begin())] += 1;
      all += 1;
    }
  std::vector<std::vector<std::string>> cells;
  for (std::size_t i = 0; i < counts.size(); ++i)
    cells.push_back({number(static_cast<double>(i)), number(100 * counts[i] / all), cell(class_name(i))});
  auto const data = script.data(cells);
  script.line("set ylabel \"share of the samples (%)\"");
  script.line("set xrange [-0.6:{}]", number(static_cast<double>(counts.size()) - 0.4));
  script.line("set yrange [0:*]");
  script.line("set xtics autofreq");
  script.line(
      "plot {} using 1:2:(0.8):xtic(3) with boxes fs solid 0.85 noborder lc rgb {}, "
      "{} using 1:2:(sprintf(\"%.1f\", $2)) with labels offset 0,0.6 font \",9\"",
      data, quote(colour(1)), data);
}

}  // namespace

void draw_errors(Rows& rows, Script& script) {
  std::map<std::string, std::vector<double>> errors;
  for (auto const& row : rows.all<record::HeldOut>()) errors[row.device].push_back(row.error_pct);
  script.width_px = 1100;
  script.height_px = 460;
  script.line("set multiplot layout 1,2{}", script.title.empty() ? std::string() : " title " + quote(script.title));
  script.line("set key off");
  script.line("set grid y");
  draw_boxes(script, errors);
  draw_classes(script, errors);
  script.line("unset multiplot");
}

}  // namespace kernelcast::figure
