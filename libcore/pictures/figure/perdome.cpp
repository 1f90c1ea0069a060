// The surface of all code partitions over the intensities of the two parts, as in Figures 2 and 3 of [perdome]; the
// perfect data partition, the partitions of the input and the optimum are marked on it.
#include <algorithm>
#include <map>

#include "pictures/figure/kinds.hpp"
#include "records/partition.hpp"

namespace kernelcast::figure {
namespace {

std::string giga(double flop_per_s) {
  return number(flop_per_s / 1e9);
}

// One side of the diagonal as scans: rows of equal first intensity, with an empty row between them.
std::vector<std::vector<std::string>> scans(std::vector<record::Bound> rows) {
  std::sort(rows.begin(), rows.end(), [](auto const& a, auto const& b) {
    return std::pair(*a.intensity_cpu, *a.intensity_gpu) < std::pair(*b.intensity_cpu, *b.intensity_gpu);
  });
  std::vector<std::vector<std::string>> cells;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i > 0 && *rows[i].intensity_cpu != *rows[i - 1].intensity_cpu) cells.emplace_back();
    cells.push_back({number(*rows[i].intensity_cpu), number(*rows[i].intensity_gpu), giga(rows[i].bound_flop_per_s)});
  }
  return cells;
}

}  // namespace

void draw_perdome(Rows& rows, Script& script) {
  std::vector<record::Bound> sides[2], marks;
  std::map<std::pair<std::string, double>, int> codes;
  for (auto& row : rows.all<record::Bound>()) {
    ++codes[{row.system, row.intensity}];
    if (!row.intensity_cpu || !row.intensity_gpu || *row.intensity_cpu <= 0 || *row.intensity_gpu <= 0) continue;
    if (row.partition == "CP" && marks.empty())
      sides[*row.intensity_cpu > *row.intensity_gpu].push_back(std::move(row));
    else
      marks.push_back(std::move(row));
  }
  if (codes.size() > 1)
    throw Error(Status::bad_data, fmt::format("{} surfaces are too many for one figure", codes.size()),
                "choose one by --where system=… and --where intensity=…");
  if (sides[0].empty() && sides[1].empty())
    throw Error(Status::bad_data, "no surface to draw", "perdome --sweep writes it");
  auto const& [system, intensity] = codes.begin()->first;
  script.height_px = std::max(script.height_px, 640);
  script.set_title(fmt::format("{}, {} operations per byte", system, number(intensity)));
  // One name for each processor: those of two devices.
  auto const plus = system.find('+');
  bool const two = plus != system.npos && system.find('+', plus + 1) == system.npos;
  script.line("set xlabel {} rotate parallel offset 0,-1",
              quote("operations per byte on " + (two ? system.substr(0, plus) : "the first")));
  script.line("set ylabel {} rotate parallel offset 0,-1",
              quote("operations per byte on " + (two ? system.substr(plus + 1) : "the second")));
  script.line("set zlabel \"Gflop/s\" rotate offset -1,0");
  script.line("set logscale xy 2");
  // No tic at the corner, and the lowest surface above the plane: no label on another.
  script.line("set xtics 0.25,4 offset 0.3,-0.4");
  script.line("set ytics 0.25,4 offset -0.3,-0.4");
  script.line("set xyplane relative 0.1");
  script.line("set grid");
  script.line("set view 58,320");
  script.line("set hidden3d front");
  script.line("set key top right reverse Left");
  for (auto& side : sides)
    if (!side.empty())
      script.curve("{} using 1:2:3 with lines lc rgb \"#7799bb\" notitle", script.data(scans(std::move(side))));
  std::size_t i = 1;
  for (auto const& mark : marks) {
    auto const data =
        script.data({{number(*mark.intensity_cpu), number(*mark.intensity_gpu), giga(mark.bound_flop_per_s)}});
    script.curve("{} using 1:2:3 with points pt 7 ps 1.3 lc rgb {} title {}", data, quote(colour(i)),
                 quote(fmt::format("{}: {:.1f} Gflop/s", mark.partition, mark.bound_flop_per_s / 1e9)));
    ++i;
  }
  script.plot("splot");
}

}  // namespace kernelcast::figure
