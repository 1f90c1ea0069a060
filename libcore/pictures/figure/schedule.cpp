// A Gantt chart: one lane per device, one box per kernel.
#include <algorithm>

#include "base/diag/names.hpp"
#include "pictures/figure/kinds.hpp"
#include "records/ranking.hpp"

namespace kernelcast::figure {
namespace {

constexpr double characters_across = 110;  // of the labels' font

// As much of a box's name as its part of the drawing has room for; empty for little.
std::string fitting(std::string const& name, double part) {
  auto const room = static_cast<std::size_t>(std::max(part, 0.) * characters_across);
  if (name.size() <= room) return name;
  if (room < 4) return {};
  auto end = room - 1;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;  // within a character
  return name.substr(0, end) + "\u2026";
}

}  // namespace

void draw_schedule(Rows& rows, Script& script) {
  auto const boxes = rows.all<record::Assignment>();
  std::vector<std::string> devices, kernels;
  auto const place = [](std::vector<std::string>& names, std::string const& name) {
    auto const found = std::find(names.begin(), names.end(), name);
    auto const at = static_cast<std::size_t>(found - names.begin());
    if (found == names.end()) names.push_back(name);
    return at;
  };
  double end_s = 0;
  for (auto const& box : boxes) end_s = std::max(end_s, box.end_s);
  // Milliseconds or microseconds, whichever keeps the numbers above 1.
  auto const [scale, unit] = end_s >= 1      ? std::pair(1., "s")
                             : end_s >= 1e-3 ? std::pair(1e3, "ms")
                                             : std::pair(1e6, "us");
  std::vector<std::vector<std::string>> cells;
  for (auto const& box : boxes)
    cells.push_back({number(box.start_s * scale), number(static_cast<double>(place(devices, box.device))),
                     number(box.end_s * scale), number(static_cast<double>(place(kernels, box.kernel))),
                     cell(fitting(function_name(box.kernel), (box.end_s - box.start_s) / end_s))});
  auto const data = script.data(cells);
  script.height_px = 120 + 40 * static_cast<int>(devices.size());
  script.set_title("Which device runs what when");
  script.line("set xlabel \"time in {}\"", unit);
  script.line("set xrange [0:*]");
  script.line("set yrange [{}:-0.6]", number(static_cast<double>(devices.size()) - 0.4));
  script.line("set grid x");
  script.line("unset key");
  std::string tics;
  for (std::size_t i = 0; i < devices.size(); ++i) tics += fmt::format("{}{} {}", i ? ", " : "", tic(devices[i]), i);
  script.line("set ytics ({}) scale 0", tics);
  for (std::size_t i = 0; i < kernels.size(); ++i)
    script.curve(
        "{} using ($4=={} ? $1 : NaN):2:1:3:($2-0.35):($2+0.35) with boxxyerror fs solid 0.8 noborder lc rgb {}", data,
        i, quote(colour(i)));
  script.curve("{} using (($1+$3)/2):2:5 with labels font \",9\"", data);
  script.plot();
}

}  // namespace kernelcast::figure
