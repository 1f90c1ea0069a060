// The largest kernels on the first device: their parts of the time, and what each is limited by.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/diag/names.hpp"
#include "pictures/report/sections.hpp"

namespace kernelcast::report {

namespace {

constexpr std::size_t shown_kernels = 12, shown_parts = 5;
constexpr double smallest_part = 0.005;

struct Part {
  std::string name;
  double share = 0;  // of the time
};

// What each station, or term, would take of the time if it had the kernel to itself. They overlap.
std::vector<Part> parts_of(KernelTime const& kernel) {
  std::vector<Part> out;
  auto const add = [&](std::string_view name, std::optional<double> time_s, double of_s) {
    if (time_s && *time_s > 0 && of_s > 0) out.push_back({std::string(name), std::min(*time_s / of_s, 1.)});
  };
  if (auto const* s = kernel.stations) {  // all of one launch
    double const launch_s = s->queue_s.value_or(0) + s->start_s.value_or(0) + s->launch_s.value_or(0);
    for (std::size_t i = 0; i < record::count_of<record::Station>; ++i) {
      auto const station = static_cast<record::Station>(i);
      if (auto const alone = s->station_s[station])
        add(record::name(station), *alone * s->groups_of_unit.value_or(0), launch_s);
    }
    if (s->latency_s && s->customers && *s->customers > 0)
      add("latency", *s->latency_s * s->groups_of_unit.value_or(0) / *s->customers, launch_s);
    add("atomics", s->atomics_s, launch_s);
    add("launch", s->launch_s, launch_s);
  } else if (auto const* p = kernel.longest) {
    double const time_s = p->time_s.value_or(0);
    add("compute", p->t_compute_s, time_s);
    add("global", p->t_global_s, time_s);
    add("shared", p->t_shared_s, time_s);
    add("launch", p->t_launch_s, time_s);
  }
  std::ranges::sort(out, {}, [](auto const& part) { return std::pair(-part.share, part.name); });
  std::erase_if(out, [](auto const& part) { return part.share < smallest_part; });
  if (out.size() > shown_parts) out.resize(shown_parts);
  return out;
}

// Of the models' words for parts.
std::string part_name(std::string const& name) {
  return name == "compute"  ? "instructions"
         : name == "global" ? "global memory"
         : name == "shared" ? "shared memory"
         : name == "launch" ? "launches"
                            : name;
}

Html parts_cell(KernelTime const& kernel) {
  Html out{"<ul class=parts>"};
  for (auto const& part : parts_of(kernel))
    out += markup(
        "<li><span>{}</span><span class=track><i class={} style=\"width:{:.1f}%\"></i></span><span>{}</span></li>",
        part_name(part.name), limiter_class(part.name == "integer" || part.name == "imad" ? "int" : part.name),
        bar_width(part.share, 1), percent(part.share));
  return out += {"</ul>"};
}

// One bar: the time of all kernels, by kernel.
Html whole_bar(Page const& page) {
  Html out{"<div class=whole aria-hidden=true>"};
  double rest = 1;
  for (std::size_t i = 0; i < std::min(shown_kernels, page.kernels.size()); ++i) {
    auto const& kernel = page.kernels[i];
    double const share = kernel.time_s / page.kernels_s;
    if (share < 0.01) break;
    rest -= share;
    out += markup("<span class={} style=\"flex:{:.3f}\" title=\"{}: {}\">{}</span>", limiter_class(kernel.limiter),
                  share, function_name(kernel.kernel), percent(share), share > 0.04 ? fmt::format("{}", i + 1) : "");
  }
  if (rest > 0.002)
    out += markup("<span class=l-other style=\"flex:{:.3f}\" title=\"others: {}\"></span>", rest, percent(rest));
  return out += {"</div>\n"};
}

// "heat.c:12" and what that line says.
Html source_of(KernelTime const& kernel) {
  if (kernel.source.empty()) return {};
  auto const file = kernel.source.substr(kernel.source.rfind('/') + 1);
  return markup("<small title=\"{}\">{} <code>{}</code></small>", kernel.source, file, kernel.source_text);
}

std::optional<double> occupancy_of(KernelTime const& kernel) {
  return kernel.stations ? kernel.stations->occupancy : kernel.longest ? kernel.longest->occupancy : std::nullopt;
}

}  // namespace

Html kernels_section(Page const& page) {
  if (page.kernels.empty() || page.kernels_s <= 0 || !std::isfinite(page.kernels_s)) return {};
  auto const shown = std::min(shown_kernels, page.kernels.size());
  bool const with_launches = !page.inputs.kernels.empty();
  bool const stations = std::ranges::any_of(page.kernels, [](auto const& k) { return k.stations != nullptr; });
  Html body = page.kernels.size() > 1 ? whole_bar(page) : Html{};
  body += markup(
      "<table role=table class=kernels><caption>kernels on {}, the longest first</caption>\n<thead role=rowgroup><tr "
      "role=row>"
      "<th role=columnheader scope=col>#</th><th role=columnheader scope=col>kernel</th>"
      "<th role=columnheader scope=col class=num>time</th><th role=columnheader scope=col class=num>part</th>{}"
      "<th role=columnheader scope=col>limiter</th><th role=columnheader scope=col class=num>occupancy</th>"
      "<th role=columnheader scope=col>of its time, if it were alone</th></tr></thead>\n<tbody role=rowgroup>\n",
      page.device_name(page.best),
      Html{with_launches ? "<th role=columnheader scope=col class=num>launches</th>" : ""});
  for (std::size_t i = 0; i < shown; ++i) {
    auto const& kernel = page.kernels[i];
    auto const occupancy = occupancy_of(kernel);
    auto also = kernel.cases > 1 ? fmt::format("{} configurations; the longest: {}", kernel.cases, kernel.longest_case)
                : kernel.longest_case == kernel.kernel ? std::string()
                                                       : kernel.longest_case;
    if (kernel.clones > 1) also = fmt::format("{} kernels, {}", kernel.clones, also);
    body += markup(
        "<tr role=row><td role=cell class=rank>{}</td><th role=rowheader scope=row class=device>{}{}{}</th>"
        "<td role=cell class=time>{}</td><td role=cell class=\"more num\" data-label=part>{}</td>",
        i + 1, name(function_name(kernel.kernel), demangled(kernel.kernel)),
        also.empty() ? Html{} : markup("<small>{}</small>", also), source_of(kernel), seconds(kernel.time_s),
        percent(kernel.time_s / page.kernels_s));
    if (with_launches)
      body += markup("<td role=cell class=\"more num\" data-label=launches>{:.0f}</td>", kernel.launches);
    body += markup(
        "<td role=cell class=more data-label=limiter>{}</td><td role=cell class=\"more num\" "
        "data-label=occupancy>{}</td>"
        "<td role=cell class=partscell>{}</td></tr>\n",
        limiter(kernel.limiter), occupancy ? percent(*occupancy) : std::string("–"), parts_cell(kernel));
  }
  body += {"</tbody></table>\n"};
  if (page.kernels.size() > shown) {
    double rest = 0;
    for (std::size_t i = shown; i < page.kernels.size(); ++i) rest += page.kernels[i].time_s;
    body += markup("<p class=note>{} more take {} of the time.</p>\n", counted(page.kernels.size() - shown, "kernel"),
                   percent(rest / page.kernels_s));
  }
  return section(
      "limiters", fmt::format("What takes the time on {}", page.device_name(page.best)),
      stations ? "The limiter is what decides the kernel's time. The bars are what each unit of the device is busy "
                 "of that time, and what waiting for results would take; they overlap."
               : "The limiter is what decides the kernel's time. The bars are what each part would take of that "
                 "time if it were alone; they overlap.",
      body);
}

}  // namespace kernelcast::report
