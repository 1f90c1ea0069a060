// Latency of a dependent load over the working set: a stair whose steps are the caches.
#include <algorithm>
#include <map>

#include "pictures/figure/kinds.hpp"
#include "records/measurement.hpp"

namespace kernelcast::figure {
namespace {

constexpr std::size_t max_latency_lines = 12;

struct Capacity {
  std::string name;
  double bytes;
};

}  // namespace

void draw_latency(Rows& rows, Script& script) {
  std::map<std::string, std::vector<std::pair<double, double>>> lines;
  std::map<std::string, int> devices;
  std::vector<Capacity> capacities;
  std::string device;
  for (auto const& row : rows.all<record::Measurement>()) {
    if (!row.value || *row.value <= 0) continue;
    if (row.metric == "cache_capacity_bytes") capacities.push_back({row.variant, *row.value});
    if (row.metric != "load_latency_s" || !row.working_set_bytes) continue;
    device = row.device;
    ++devices[row.device + row.backend];
    auto const name = fmt::format("{} ({}){}{}", row.device, row.backend, row.variant.empty() ? "" : ", ", row.variant);
    lines[name].emplace_back(*row.working_set_bytes / 1024, *row.value * 1e9);
  }
  if (lines.empty())
    throw Error(Status::bad_data, "no latency over the working set among the rows",
                "devprobe --bench latency measures it");
  if (lines.size() > max_latency_lines)
    throw Error(Status::bad_data, fmt::format("{} lines are too many for one figure", lines.size()),
                fmt::format("choose at most {} by --where device=… or backend=…", max_latency_lines));
  script.set_title(devices.size() == 1 ? device + ": latency of a load" : "Latency of a load");
  script.line("set xlabel \"working set, KiB\"");
  script.line("set ylabel \"ns\"");
  script.line("set logscale x 2");
  script.line("set logscale y 10");
  script.line("set grid");
  script.line("set key top left");
  // Only where they belong to the one line that is drawn.
  if (devices.size() == 1)
    for (auto const& capacity : capacities) {
      auto const x = number(capacity.bytes / 1024);
      script.line("set arrow from {},graph 0 to {},graph 1 nohead dashtype 2 lc rgb \"#999999\"", x, x);
      script.line("set label {} at {},graph 0.04 offset 0.4,0 font \",9\"", quote(capacity.name), x);
    }
  std::size_t i = 0;
  for (auto& [name, points] : lines) {
    std::sort(points.begin(), points.end());
    std::vector<std::vector<std::string>> cells;
    for (auto const& [x, y] : points) cells.push_back({number(x), number(y)});
    script.curve("{} using 1:2 with linespoints lw 2 pt 7 ps 0.5 lc rgb {} title {}", script.data(cells),
                 quote(colour(i)), quote(name));
    ++i;
  }
  script.plot();
}

}  // namespace kernelcast::figure
