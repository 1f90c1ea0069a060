// Instructions per byte of memory traffic against instructions per second, below what the first device can issue and
// move. [ding] counts wavefront instructions in place of floating-point operations, so that kernels without any have
// their place, too.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/diag/names.hpp"
#include "pictures/report/sections.hpp"

namespace kernelcast::report {

namespace {

constexpr std::size_t max_points = 12;
constexpr double height_px = 320, margin = 0.12;

struct Point {
  KernelTime const* kernel;
  std::size_t place;  // in the list of kernels
  double instructions = 0, bytes = 0, time_s = 0;
  double intensity() const { return instructions / bytes; }
  double rate() const { return instructions / time_s; }
};

struct Roofs {
  double issue_per_s = 0, bytes_per_s = 0;
  bool measured = false;
  std::size_t width = 1;  // place of the device's width in a kernel's issues
  double at(double intensity) const { return std::min(issue_per_s, bytes_per_s * intensity); }
};

std::optional<Roofs> roofs_of(device::Device const* device) {
  if (!device || !device->throughput_issue || !device->compute_units || !device->clock_hz || !device->wave_width)
    return std::nullopt;
  auto const& widths = record::width_lanes;
  auto const width = std::ranges::find(widths, *device->wave_width);
  auto const bandwidth = device->measured_bandwidth_bytes_per_s ? device->measured_bandwidth_bytes_per_s
                                                                : device->peak_bandwidth_bytes_per_s;
  if (width == widths.end() || !bandwidth) return std::nullopt;
  Roofs out;
  out.issue_per_s = *device->throughput_issue / static_cast<double>(*device->wave_width) *
                    static_cast<double>(*device->compute_units) * *device->clock_hz;
  out.bytes_per_s = *bandwidth;
  out.measured = device->measured_bandwidth_bytes_per_s.has_value();
  out.width = static_cast<std::size_t>(width - widths.begin());
  return out.issue_per_s > 0 && out.bytes_per_s > 0 ? std::optional(out) : std::nullopt;
}

std::vector<Point> points_of(Page const& page, Roofs const& roofs) {
  using KernelCase = std::pair<std::string, std::string>;
  std::map<KernelCase, double> moved;  // bytes of a launch
  for (auto const& row : page.inputs.stations)
    if (row.device == page.best && row.dram_bytes) moved[{row.kernel, row.case_name}] = *row.dram_bytes;
  std::set<KernelCase> timed;
  for (auto const& row : page.inputs.projections)
    if (row.device == page.best && row.time_s) timed.insert({row.kernel, row.case_name});
  for (auto const& row : page.inputs.stations)
    if (row.device == page.best && row.time_s) timed.insert({row.kernel, row.case_name});
  std::vector<Point> out;
  for (std::size_t i = 0; i < std::min(max_points, page.kernels.size()); ++i) {
    Point point{&page.kernels[i], i + 1, 0, 0, page.kernels[i].time_s};
    for (auto const& row : page.inputs.kernels) {
      if (!page.is_of_best(row) || row.kernel != point.kernel->kernel || !timed.contains({row.kernel, row.case_name}))
        continue;
      for (auto const& of_class : row.issues) point.instructions += of_class[roofs.width];
      auto const at = moved.find({row.kernel, row.case_name});
      point.bytes += at == moved.end() ? row.global_footprint_bytes : at->second * static_cast<double>(row.launches);
    }
    if (std::isfinite(std::log(point.intensity())) && std::isfinite(std::log(point.rate()))) out.push_back(point);
  }
  return out;
}

double y_px(Axis const& axis, double value) {
  return height_px * (1 - axis.at(value) / 100);
}

Html drawing(std::vector<Point> const& points, Roofs const& roofs, bool moved, std::string const& described) {
  double const ridge = roofs.issue_per_s / roofs.bytes_per_s;
  std::vector<double> xs{ridge / 2, ridge * 2}, ys{roofs.issue_per_s * 2};  // above the roof is room for labels
  for (auto const& point : points) xs.push_back(point.intensity()), ys.push_back(point.rate());
  auto const x = Axis::logarithmic(xs, margin), y = Axis::logarithmic(ys, margin);
  Html labels, grid, marks;
  for (auto const& tick : y.ticks(5)) {
    labels += markup("<text x=\"100%\" y={:.1f} dy=4 text-anchor=end>{}</text>", y_px(y, tick.value),
                     without_zeros(quantity(tick.value, "/s")));
    grid += markup("<line class=grid x1=0 x2=\"100%\" y1={0:.1f} y2={0:.1f} />", y_px(y, tick.value));
  }
  Html below;
  for (auto const& tick : x.ticks(5)) {
    grid += markup("<line class=grid x1=\"{0:.2f}%\" x2=\"{0:.2f}%\" y1=0 y2={1} />", tick.at, height_px);
    below += markup("<text x=\"{:.2f}%\" y=13 text-anchor=middle>{:.3g}</text>", tick.at, tick.value);
  }
  // The slope begins where it enters the drawing.
  double const from = std::max(x.low(), y.low() / roofs.bytes_per_s);
  marks += markup("<line class=roof x1=\"{:.2f}%\" y1={:.1f} x2=\"{:.2f}%\" y2={:.1f} />", x.at(from),
                  y_px(y, roofs.at(from)), x.at(ridge), y_px(y, roofs.issue_per_s));
  marks += markup("<line class=roof x1=\"{:.2f}%\" y1={:.1f} x2=\"100%\" y2={:.1f} />", x.at(ridge),
                  y_px(y, roofs.issue_per_s), y_px(y, roofs.issue_per_s));
  auto const label = [&](int lines_above, std::string const& text) {
    marks += markup("<text class=rooflabel x=\"99%\" y={:.1f} text-anchor=end>{}</text>",
                    y_px(y, roofs.issue_per_s) - 8 - 16 * lines_above, text);
  };
  label(1, "slope: memory, " + quantity(roofs.bytes_per_s, "B/s"));
  label(0, "flat: issue, " + quantity(roofs.issue_per_s, "/s"));
  for (auto const& point : points)
    marks += markup(
        "<g class={}><circle cx=\"{:.2f}%\" cy={:.1f} r=10 /><text class=mark x=\"{:.2f}%\" y={:.1f} dy=4 "
        "text-anchor=middle>{}</text><title>{}: {:.3g} instructions per byte, {}</title></g>",
        limiter_class(point.kernel->limiter), x.at(point.intensity()), y_px(y, point.rate()), x.at(point.intensity()),
        y_px(y, point.rate()), point.place, function_name(point.kernel->kernel), point.intensity(),
        quantity(point.rate(), "/s"));
  return markup(
      "<div class=xy><div class=ylabel>wavefront instructions per second</div><svg class=axis height={0} "
      "width=\"100%\" aria-hidden=true>{1}</svg>"
      "<svg class=area height={0} width=\"100%\" role=img aria-label=\"{2}\">{3}{4}</svg>"
      "<div></div><svg class=axis width=\"100%\" height=16 aria-hidden=true>{5}</svg><div class=xlabel>wavefront "
      "instructions per {6}"
      "</div></div>\n",
      height_px, labels, described, grid, marks, below, moved ? "byte of memory traffic" : "distinct byte");
}

}  // namespace

Html roofline_section(Page const& page) {
  auto const roofs = roofs_of(page.device(page.best));
  if (!roofs || page.kernels.empty()) return {};
  auto const points = points_of(page, *roofs);
  if (points.empty()) return {};
  bool const moved = !page.inputs.stations.empty();
  auto const device = page.device_name(page.best);
  auto body = drawing(
      points, *roofs, moved,
      fmt::format("{} below the roofs of {}; the table has the figures", counted(points.size(), "kernel"), device));
  body += {
      "<div class=wide><table class=plain><caption>kernels below the roofs</caption>\n<thead><tr><th "
      "scope=col>#</th><th scope=col>kernel</th>"
      "<th scope=col class=num>instructions</th><th scope=col class=num>bytes</th><th scope=col class=num>per byte</th>"
      "<th scope=col class=num>per second</th><th scope=col class=num>of the roof</th></tr></thead>\n<tbody>\n"};
  for (auto const& point : points)
    body += markup(
        "<tr><td class=num>{}</td><th scope=row>{}</th><td class=num>{}</td><td class=num>{}</td><td "
        "class=num>{:.3g}</td>"
        "<td class=num>{}</td><td class=num>{}</td></tr>\n",
        point.place, name(function_name(point.kernel->kernel), demangled(point.kernel->kernel)),
        quantity(point.instructions, ""), quantity(point.bytes, "B"), point.intensity(), quantity(point.rate(), ""),
        percent(point.rate() / roofs->at(point.intensity())));
  body += {"</tbody></table></div>\n"};
  return section(
      "roofline", fmt::format("Roofline of {}", device),
      fmt::format(
          "A kernel below the slope would go faster with fewer bytes, one below the flat roof with fewer instructions; "
          "one far below both waits. Instructions are PTX's, of wavefronts; bytes are {}; the memory's roof is its {} "
          "bandwidth.",
          moved ? "what the model has memory move"
                : "the distinct ones that a kernel touches, the least that memory moves",
          roofs->measured ? "measured" : "stated"),
      body);
}

}  // namespace kernelcast::report
