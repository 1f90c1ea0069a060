// Bandwidth over occupancy, a line per device, direction, word size and access: Figure 2 of [panwar].
#include <algorithm>
#include <map>

#include "pictures/figure/kinds.hpp"
#include "records/measurement.hpp"

namespace kernelcast::figure {
namespace {

constexpr std::size_t max_occupancy_lines = 2 * colours;

struct Point {
  double occupancy, low, value, high;
};

std::string name_of(record::Measurement const& row, bool several_devices) {
  std::string out = several_devices ? row.device + " (" + row.backend + ") " : "";
  out += row.metric == "shared_bandwidth_bytes_per_s" ? "shared " : "";
  out += row.direction;
  if (row.word_bytes) out += fmt::format(" {} B", *row.word_bytes);
  if (!row.variant.empty()) out += " " + row.variant;
  return out;
}

}  // namespace

void draw_occupancy(Rows& rows, Script& script) {
  std::vector<record::Measurement> kept;
  std::map<std::string, int> devices;
  for (auto& row : rows.all<record::Measurement>()) {
    bool const bandwidth = row.metric == "global_bandwidth_bytes_per_s" || row.metric == "shared_bandwidth_bytes_per_s";
    if (!bandwidth || !row.value || !row.occupancy || row.access != "coalesced") continue;
    ++devices[row.device + row.backend];
    kept.push_back(std::move(row));
  }
  if (kept.empty())
    throw Error(Status::bad_data, "no coalesced bandwidth over occupancy among the rows",
                "devprobe --bench global measures it");
  std::map<std::string, std::vector<Point>> lines;
  for (auto const& row : kept)
    lines[name_of(row, devices.size() > 1)].push_back({*row.occupancy, row.ci_low.value_or(*row.value) / 1e9,
                                                       *row.value / 1e9, row.ci_high.value_or(*row.value) / 1e9});
  if (lines.size() > max_occupancy_lines)
    throw Error(Status::bad_data, fmt::format("{} lines are too many for one figure", lines.size()),
                fmt::format("choose at most {} by --where device=…, direction=… or word_bytes=…", max_occupancy_lines));
  script.set_title(devices.size() == 1 ? kept.front().device + ": bandwidth over occupancy"
                                       : "Bandwidth over occupancy");
  script.line("set xlabel \"occupancy\"");
  script.line("set ylabel \"GB/s\"");
  script.line("set xrange [0:1.02]");
  script.line("set yrange [0:*]");
  script.line("set grid");
  script.line("set key outside right center");
  std::size_t i = 0;
  for (auto& [name, points] : lines) {
    std::sort(points.begin(), points.end(), [](Point const& a, Point const& b) { return a.occupancy < b.occupancy; });
    std::vector<std::vector<std::string>> cells;
    for (auto const& p : points) cells.push_back({number(p.occupancy), number(p.value), number(p.low), number(p.high)});
    // Where the colours begin again the points are open and the lines broken.
    script.curve("{} using 1:2:3:4 with yerrorlines lw 2{} lc rgb {} title {}", script.data(cells),
                 i < colours ? " pt 7 ps 0.6" : " dt 2 pt 6 ps 0.9", quote(colour(i)), quote(name));
    ++i;
  }
  script.plot();
}

}  // namespace kernelcast::figure
