// Which device runs what when: a lane for each device.
#include <algorithm>
#include <map>

#include "base/diag/names.hpp"
#include "pictures/report/sections.hpp"

namespace kernelcast::report {

Html schedule_section(Page const& page) {
  auto const& boxes = page.inputs.assignments;
  if (boxes.empty()) return {};
  std::vector<std::string> devices;
  double end_s = 0;
  for (auto const& box : boxes) {
    if (std::ranges::find(devices, box.device) == devices.end()) devices.push_back(box.device);
    end_s = std::max(end_s, box.end_s);
  }
  if (end_s <= 0) return {};
  std::map<std::string, std::size_t> colours;
  for (auto const& box : boxes) colours.try_emplace(box.kernel, colours.size() % 7);
  auto const axis = Axis::over({end_s});
  Html lanes;
  for (auto const& device : devices) {
    lanes += markup(
        "<tr role=row><th role=rowheader scope=row class=device>{}</th><td role=cell class=plot><div><svg "
        "width=\"100%\" height=26>",
        name(page.device_name(device)));
    for (auto const& box : boxes) {
      if (box.device != device) continue;
      auto const text = fmt::format("{} {}: {} to {}", function_name(box.kernel), box.case_name, seconds(box.start_s),
                                    seconds(box.end_s));
      double const from = axis.at(box.start_s), width = axis.at(box.end_s) - from;
      lanes += markup("<rect class=k{} x=\"{:.2f}%\" y=3 width=\"{:.2f}%\" height=20 rx=2><title>{}</title></rect>",
                      colours[box.kernel], from, std::max(width, 0.15), text);
    }
    lanes += {"</svg></div></td></tr>\n"};
  }
  Html rows;
  for (auto const& box : boxes)
    rows += markup(
        "<tr><th scope=row><i class=\"key k{}\"></i>{}</th><td>{}</td><td>{}</td><td class=num>{}</td><td "
        "class=num>{}</td></tr>\n",
        colours[box.kernel], name(function_name(box.kernel), demangled(box.kernel)), box.case_name,
        page.device_name(box.device), seconds(box.start_s), seconds(box.end_s));
  auto body = markup(
      "{}<table role=table class=schedule id=lanes><caption>lanes of the devices</caption>\n<thead role=rowgroup><tr "
      "role=row>"
      "<th role=columnheader scope=col>device</th><th role=columnheader scope=col class=plot "
      "aria-label=time>{}</th></tr>"
      "</thead>\n<tbody role=rowgroup>\n{}</tbody></table>\n<details{}><summary>{}, with times</summary>\n<div "
      "class=wide>"
      "<table class=plain><caption>the schedule as a table</caption>\n<thead><tr><th scope=col>kernel</th><th "
      "scope=col>case</th>"
      "<th scope=col>device</th><th scope=col class=num>starts</th><th scope=col class=num>ends</th></tr></thead>\n"
      "<tbody>\n{}</tbody></table></div></details>\n",
      axis_lines(axis, "lanes"), axis_labels(axis, tick_seconds), lanes, Html{boxes.size() <= 8 ? " open" : ""},
      counted(boxes.size(), "launch", "es"), rows);
  return section("schedule", "Schedule", "", body);
}

}  // namespace kernelcast::report
