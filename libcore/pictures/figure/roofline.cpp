// Rooflines in log-log axes: a roof for each system, and kernels as points under the roof that bounds them.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/diag/names.hpp"
#include "pictures/figure/kinds.hpp"
#include "records/partition.hpp"

namespace kernelcast::figure {
namespace {

constexpr double label_factor = 5;  // of intensity: the width of a label

}  // namespace

void draw_roofline(Rows& rows, Script& script) {
  std::map<std::string, std::vector<std::pair<double, double>>> roofs;  // system -> intensity, operations per second
  std::vector<record::Bound> kernels;
  double first = 1e300, last = 0;
  double low = 1e300;
  for (auto& row : rows.all<record::Bound>()) {
    low = std::min(low, row.bound_flop_per_s);
    first = std::min(first, row.intensity);
    last = std::max(last, row.intensity);
    if (row.partition == "roof")
      roofs[row.system].emplace_back(row.intensity, row.bound_flop_per_s);
    else
      kernels.push_back(std::move(row));
  }
  script.set_title(kernels.empty() ? "Rooflines" : "Kernels below their roofs");
  script.line("set xlabel \"operations per byte\"");
  script.line("set ylabel \"operations per second\"");
  script.line("set logscale xy");
  script.line("set format y \"%.0s %cflop/s\"");
  script.line("set grid");
  script.line("set key bottom right");
  if (last > first && first > 0) script.line("set xrange [{}:{}]", number(first), number(last));
  script.line("set yrange [{}:*]", number(low / 2));
  std::map<std::string, std::size_t> of_system;
  for (auto& [system, points] : roofs) {
    std::sort(points.begin(), points.end());
    std::vector<std::vector<std::string>> cells;
    for (auto const& [x, y] : points) cells.push_back({number(x), number(y)});
    auto const c = of_system.try_emplace(system, of_system.size()).first->second;
    script.curve("{} using 1:2 with lines lw 2 lc rgb {} title {}", script.data(cells), quote(colour(c)),
                 quote(system));
  }
  // Each kernel has one label, at the lowest of its points: below it there are no roofs. Labels of points that are near
  // are in lines below each other.
  std::sort(kernels.begin(), kernels.end(), [](auto const& a, auto const& b) {
    return std::tie(a.intensity, a.partition, a.bound_flop_per_s, a.system) <
           std::tie(b.intensity, b.partition, b.bound_flop_per_s, b.system);
  });
  std::set<std::string> labelled;
  double taken_to = 0;
  int labels = 0;
  for (auto const& kernel : kernels) {
    auto const [at, is_new] = of_system.try_emplace(kernel.system, of_system.size());
    auto const data = script.data(
        {{number(kernel.intensity), number(kernel.bound_flop_per_s), cell(function_name(kernel.partition))}});
    script.curve("{} using 1:2 with points pt 7 lc rgb {} {}", data, quote(colour(at->second)),
                 is_new ? "title " + quote(kernel.system) : std::string("notitle"));
    if (!labelled.insert(kernel.partition).second) continue;
    labels = kernel.intensity < taken_to ? labels + 1 : 0;
    taken_to = std::max(taken_to, kernel.intensity * label_factor);
    script.curve("{} using 1:2:3 with labels left offset 0.8,{} font \",10\" notitle", data, number(-0.6 - labels));
  }
  script.plot();
}

}  // namespace kernelcast::figure
