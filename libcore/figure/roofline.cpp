// Rooflines in log-log axes: a roof for each system, and kernels as points under the roof that bounds them.
#include <algorithm>
#include <map>

#include "figure/kinds.hpp"
#include "record/partition.hpp"

namespace kernelcast::figure {

void draw_roofline(Rows& rows, Script& script) {
  std::map<std::string, std::vector<std::pair<double, double>>> roofs;  // system -> intensity, operations per second
  std::vector<record::Bound> kernels;
  double low = 1e300;
  for (auto& row : rows.all<record::Bound>()) {
    low = std::min(low, row.bound_flop_per_s);
    if (row.partition == "roof")
      roofs[row.system].emplace_back(row.intensity, row.bound_flop_per_s);
    else
      kernels.push_back(std::move(row));
  }
  script.set_title(kernels.empty() ? "Rooflines" : "Kernels below their roofs");
  script.line("set xlabel \"operations per byte\"");
  script.line("set ylabel \"operations per second\"");
  script.line("set logscale xy");
  script.line("set format y \"%.0s%cflop/s\"");
  script.line("set grid");
  script.line("set key bottom right");
  script.line("set yrange [{}:*]", number(low / 2));
  std::map<std::string, std::size_t> colours;
  for (auto& [system, points] : roofs) {
    std::sort(points.begin(), points.end());
    std::vector<std::vector<std::string>> cells;
    for (auto const& [intensity, bound] : points) cells.push_back({number(intensity), number(bound)});
    auto const c = colours.try_emplace(system, colours.size()).first->second;
    script.curve("{} using 1:2 with lines lw 2 lc rgb {} title {}", script.data(cells), quote(colour(c)),
                 quote(system));
  }
  for (auto const& kernel : kernels) {
    auto const [at, is_new] = colours.try_emplace(kernel.system, colours.size());
    auto const data =
        script.data({{number(kernel.intensity), number(kernel.bound_flop_per_s), cell(kernel.partition)}});
    script.curve("{} using 1:2 with points pt 7 lc rgb {} {}", data, quote(colour(at->second)),
                 is_new ? "title " + quote(kernel.system) : std::string("notitle"));
    script.curve("{} using 1:2:3 with labels left offset 0.6,-0.6 notitle", data);
  }
  script.plot();
}

}  // namespace kernelcast::figure
