// What the figures rest on: models, devices without a test, assumptions, how much was counted, sources, versions.
#include <algorithm>
#include <map>
#include <set>

#include "pictures/report/sections.hpp"

namespace kernelcast::report {

namespace {

constexpr std::size_t shown_reasons = 8, shown_devices = 5, shown_names = 12;

std::string some(std::set<std::string> const& names) {
  std::string out;
  std::size_t n = 0;
  for (auto const& name : names) {
    if (n++ == shown_names) return out + fmt::format(" and {} more", names.size() - shown_names);
    out += (out.empty() ? "" : ", ") + name;
  }
  return out;
}

Html entry(std::string_view term, Html const& text) {
  return text.empty() ? Html{} : markup("<dt>{}</dt><dd>{}</dd>\n", term, text);
}

Html model_entry(Page const& page) {
  std::set<std::string> models;
  for (auto const& group : page.groups) models.insert(group.model);
  for (auto const& row : page.inputs.projections) models.insert(row.model);
  if (models.empty()) return {};
  return entry("model", markup("{} (kernelcast-models(7)). Times are projections, not measurements.", some(models)));
}

Html interval_entry(Page const& page) {
  if (page.groups.empty() || !page.groups.front().rows.front()->time_low_s) return {};
  return entry("intervals",
               {"what public measurements have missed projections by: nine of ten measured times are within "
                "(devdb/intervals.csv). An order is decided where it is right 19 times of 20 by the ratios of measured "
                "times (devdb/ratios.csv), and where copies take the most of a time, where the intervals do not "
                "overlap: machines differ in their links and memories (devdb/host_links.csv)."});
}

template <class Visit>
void each_projection(Page const& page, Visit visit) {
  for (auto const& row : page.inputs.projections) visit(row);
  if (page.inputs.projections.empty())
    for (auto const& row : page.inputs.stations) visit(row);
}

Html unvalidated_entry(Page const& page) {
  std::set<std::string> devices;
  each_projection(page, [&](auto const& row) {
    if (row.status == record::RowStatus::unvalidated) devices.insert(row.device);
  });
  return devices.empty() ? Html{}
                         : entry("unvalidated", markup("{}: no measurement of such devices has tested the model: {}",
                                                       counted(devices.size(), "device"), some(devices)));
}

// Why devices have no time, and what was assumed for others: each text with its devices. What makes a device
// unvalidated has an entry of its own.
Html reason_entries(Page const& page) {
  std::map<std::string, std::set<std::string>> without, assumed;
  each_projection(page, [&](auto const& row) {
    for (std::string_view rest = row.reason; !rest.empty();) {  // several are joined by "; "
      auto const end = rest.find("; ");
      auto const one = rest.substr(0, end);
      bool const said = row.status == record::RowStatus::unvalidated && one.starts_with("no measurement of ");
      if (!said) (row.time_s ? assumed : without)[std::string(one)].insert(row.device);
      rest = end == rest.npos ? std::string_view() : rest.substr(end + 2);
    }
  });
  auto const list = [&](std::map<std::string, std::set<std::string>> const& reasons) {
    std::vector<std::pair<std::string, std::set<std::string>>> order(reasons.begin(), reasons.end());
    std::ranges::sort(order, [](auto const& a, auto const& b) {
      return a.second.size() != b.second.size() ? a.second.size() > b.second.size() : a.first < b.first;
    });
    Html items;
    for (std::size_t i = 0; i < std::min(shown_reasons, order.size()); ++i)
      items += markup("<li>{} <span class=muted>({})</span></li>", order[i].first, some(order[i].second));
    if (order.size() > shown_reasons)
      items += markup("<li>{} more; the projections have them in column reason</li>",
                      counted(order.size() - shown_reasons, "reason"));
    return items.empty() ? Html{} : markup("<ul>{}</ul>", items);
  };
  return entry("without a time", list(without)) += entry("assumed for times", list(assumed));
}

Html counted_entry(Page const& page) {
  auto const& kernels = page.inputs.kernels;
  if (kernels.empty()) return {};
  double total = 0, emulated = 0, launches = 0, spread = 0, sampling = 0;
  std::set<std::string> targets;
  std::size_t configurations = 0;
  for (auto const& row : kernels) {
    if (!page.is_of_best(row)) continue;
    ++configurations;
    total += static_cast<double>(row.groups_total);
    emulated += static_cast<double>(row.groups_emulated);
    launches += static_cast<double>(row.launches);
    spread = std::max(spread, row.spread_pct.value_or(0));
    sampling = std::max(sampling, row.sampling_error_pct.value_or(0));
    targets.insert(row.target.empty() ? "PTX" : row.target);
  }
  return entry("counted",
               markup("{} in {}, {}; {:.0f} of {:.0f} work-groups emulated ({}), the rest "
                      "extrapolated. Emulated groups differ by at most {:.3g} %, the standard error of totals is at "
                      "most {:.3g} %. Code: {}.",
                      counted(page.kernels.size(), "kernel"), counted(configurations, "configuration"),
                      counted(static_cast<std::size_t>(launches), "launch", "es"), emulated, total,
                      percent(total > 0 ? emulated / total : 0), spread, sampling, some(targets)));
}

Html vendors_entry(Page const& page) {
  std::set<std::string> vendors;
  for (auto const& row : page.inputs.kernels)
    for (auto const& device : page.database.devices())
      if (row.runs_on == device.vendor) vendors.insert(row.runs_on);
  return vendors.empty()
             ? Html{}
             : entry("run as", markup("a device of {} each, as what the program launches depends on its device: the "
                                      "time of a device is that of its vendor's rows (column runs_on).",
                                      some(vendors)));
}

Html sources(device::Device const& device) {
  Html out;
  auto const add = [&](std::string_view what, std::string const& text) {
    if (!text.empty()) out += markup("<li>{}: {}</li>", what, text);
  };
  add("peaks", device.src_peak);
  add("throughput", device.src_throughput);
  add("limits", device.src_limits);
  add("caches", device.src_cache);
  add("measured", device.src_measured);
  add("latency", device.src_latency);
  // Columns of other models are no part of these projections.
  std::string assumed;
  for (std::string_view rest = device.assumed; !rest.empty();) {
    auto const end = rest.find("; ");
    auto const one = rest.substr(0, end);
    if (!one.starts_with("automatch_") && !one.starts_with("perdome_"))
      assumed += (assumed.empty() ? "" : "; ") + std::string(one);
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 2);
  }
  add("assumed", assumed);
  add("notes", device.notes);
  return out;
}

Html devices_entry(Page const& page) {
  std::vector<std::string> devices;
  if (!page.groups.empty())
    for (auto const* row : page.groups.front().rows) {
      if (devices.size() == shown_devices) break;
      devices.push_back(row->device);
    }
  else if (!page.best.empty())
    devices.push_back(page.best);
  Html out;
  for (auto const& id : devices)
    if (auto const* device = page.device(id))
      if (auto const list = sources(*device); !list.empty())
        out += markup("<details><summary>{} <code>{}</code></summary><ul>{}</ul></details>", page.device_name(id), id,
                      list);
  return entry("device figures", out);
}

Html files_entry(Page const& page) {
  Html out;
  for (auto const& file : page.inputs.files)
    out += markup("<li><code>{}</code>: {}</li>", file.name, counted(file.rows, file.record + " row"));
  return entry("inputs", markup("<ul>{}</ul>", out));
}

}  // namespace

Html basis_section(Page const& page) {
  auto list = model_entry(page);
  list += interval_entry(page);
  list += unvalidated_entry(page);
  list += counted_entry(page);
  list += vendors_entry(page);
  list += reason_entries(page);
  list += devices_entry(page);
  list += files_entry(page);
  list += entry("made by", markup("kernelcast {}, figure(1)", page.options.version));
  return section("basis", "What this rests on", "", markup("<dl class=basis>\n{}</dl>\n", list));
}

}  // namespace kernelcast::report
