#include "records/device/siblings.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/diag/text.hpp"
#include "base/process/process.hpp"
#include "base/process/variables.hpp"
#include "records/device/check.hpp"
#include "records/table/table.hpp"

namespace kernelcast::device {

namespace {

namespace fs = std::filesystem;

using Number = std::optional<double>;

// Any of the columns of devices.csv.
record::Schema<record::Device> const& some_columns() {
  static auto const schema = record::Device::schema().with_all_optional();
  return schema;
}

Number scaled(Number const& value, double factor) {
  return value ? Number(*value * factor) : value;
}

// Units times clock: what arithmetic goes by.
double arithmetic(record::Device const& d) {
  return static_cast<double>(d.compute_units.value_or(0)) * d.clock_boost_hz.value_or(d.clock_hz.value_or(0));
}

double ratio(double to, double from) {
  return from > 0 ? to / from : 1;
}

// One row on its way.
class Sibling {
 public:
  Sibling(record::RowReader const& rows, record::Device const& like, double share) : like_(like), share_(share) {
    auto const& columns = some_columns().columns();
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (!rows.cell(c).empty()) given_.insert(columns[c].name);
    d_ = like;
    if (std::string_view const id = rows.cell(0); id == like.device) {  // other figures of the same one
      rows.parse(&d_);
      return;
    }
    // A name is its own, and so is what only its data sheet says.
    d_.alias.clear();
    d_.notes.clear();
    d_.tdp_w.reset();
    d_.perdome_flop_s.reset(), d_.perdome_byte_s.reset();
    rows.parse(&d_);
    if (d_.occupancy_target != like.occupancy_target) limits();
    complete();
  }

  record::Device take() { return std::move(d_); }

 private:
  bool gives(std::string const& column) const { return given_.contains(column); }
  void assume(std::string const& column, std::string const& why) {
    if (!d_.assumed.empty()) d_.assumed += "; ";
    d_.assumed += column + ": " + why;
  }
  // Where the row does not give it.
  void derive(std::string const& column, Number& value, Number const& to, std::string const& why) {
    if (gives(column)) return;
    value = to;
    if (value) assume(column, why);
  }
  void limits();
  void forget_assumptions();
  void clocks();
  void units();
  void memory();
  void caches();
  void automatch();
  void complete() {
    forget_assumptions();
    clocks();
    units();
    memory();
    caches();
    automatch();
  }

  record::Device const& like_;
  double share_;
  record::Device d_;
  std::set<std::string> given_;
};

// Those of its own architecture's rule, unless the row gives them.
void Sibling::limits() {
  using record::Device;
  for (auto const& [column, limit] : {std::pair{"wave_width", &Device::wave_width},
                                      {"max_threads_per_cu", &Device::max_threads_per_cu},
                                      {"max_waves_per_cu", &Device::max_waves_per_cu},
                                      {"max_groups_per_cu", &Device::max_groups_per_cu},
                                      {"max_group_size", &Device::max_group_size},
                                      {"registers_per_cu", &Device::registers_per_cu},
                                      {"max_registers_per_item", &Device::max_registers_per_item},
                                      {"shared_per_cu_bytes", &Device::shared_per_cu_bytes},
                                      {"shared_per_group_bytes", &Device::shared_per_group_bytes}})
    if (!gives(column)) (d_.*limit).reset();
}

// Of what it is like: those about columns that are given here, or computed below.
void Sibling::forget_assumptions() {
  static std::set<std::string> const computed{"lanes",
                                              "peak_fp32_flop_per_s",
                                              "peak_fp64_flop_per_s",
                                              "peak_fp16_flop_per_s",
                                              "measured_bandwidth_bytes_per_s",
                                              "l2_bandwidth_bytes_per_s",
                                              "global_latency_s",
                                              "l1_latency_s",
                                              "l2_latency_s",
                                              "l3_latency_s",
                                              "clock_hz",
                                              "tdp_w",
                                              "link"};
  // The row's own stand behind them.
  std::string const own = gives("assumed") ? d_.assumed : std::string();
  std::string kept;
  for (auto const part : split(like_.assumed, ';')) {
    auto const text = trimmed(part);
    auto const column = std::string(trimmed(text.substr(0, text.find(':'))));
    if (text.empty() || gives(column) || computed.contains(column) || column.starts_with("automatch_")) continue;
    if (!kept.empty()) kept += "; ";
    kept += text;
  }
  d_.assumed = kept + (kept.empty() || own.empty() ? "" : "; ") + own;
}

void Sibling::clocks() {
  if (!gives("clock_boost_hz") && !gives("clock_base_hz")) return;
  if (!gives("clock_base_hz")) d_.clock_base_hz.reset();
  if (!gives("clock_boost_hz")) d_.clock_boost_hz.reset();
  derive("clock_hz", d_.clock_hz, d_.clock_boost_hz ? d_.clock_boost_hz : d_.clock_base_hz,
         d_.clock_boost_hz ? "boost clock held throughout" : "base clock");
}

void Sibling::units() {
  if (!gives("lanes") && d_.lanes_per_cu && d_.compute_units) d_.lanes = *d_.lanes_per_cu * *d_.compute_units;
  double const factor = ratio(arithmetic(d_), arithmetic(like_));
  auto const why = fmt::format("that of {} by units and clock", like_.device);
  derive("peak_fp32_flop_per_s", d_.peak_fp32_flop_per_s, scaled(like_.peak_fp32_flop_per_s, factor), why);
  derive("peak_fp64_flop_per_s", d_.peak_fp64_flop_per_s, scaled(like_.peak_fp64_flop_per_s, factor), why);
  derive("peak_fp16_flop_per_s", d_.peak_fp16_flop_per_s, scaled(like_.peak_fp16_flop_per_s, factor), why);
  if (!gives("link") && !d_.link.empty()) assume("link", fmt::format("that of {}", like_.device));
}

void Sibling::memory() {
  if (!gives("memory_bytes")) d_.memory_bytes = scaled(like_.memory_bytes, share_);
  if (!gives("peak_bandwidth_bytes_per_s"))
    d_.peak_bandwidth_bytes_per_s = scaled(like_.peak_bandwidth_bytes_per_s, share_);
  else if (!gives("memory_bus_bits"))
    d_.memory_bus_bits.reset();
  double const factor = ratio(d_.peak_bandwidth_bytes_per_s.value_or(0), like_.peak_bandwidth_bytes_per_s.value_or(0));
  derive("measured_bandwidth_bytes_per_s", d_.measured_bandwidth_bytes_per_s,
         scaled(like_.measured_bandwidth_bytes_per_s, factor),
         fmt::format("that of {} by the stated bandwidth", like_.device));
  derive("global_latency_s", d_.global_latency_s, like_.global_latency_s, fmt::format("that of {}", like_.device));
}

void Sibling::caches() {
  if (!gives("l2_bytes")) d_.l2_bytes = scaled(like_.l2_bytes, share_);
  if (!gives("l3_bytes")) d_.l3_bytes = scaled(like_.l3_bytes, share_);
  // The same cache at another clock, or a part of it; of another number of its slices it is not known.
  double const clock = ratio(d_.clock_hz.value_or(0), like_.clock_hz.value_or(0));
  double const part = share_ < 1 ? share_ : clock;
  bool const same_slices = share_ < 1 || d_.l2_bytes == like_.l2_bytes;
  derive("l2_bandwidth_bytes_per_s", d_.l2_bandwidth_bytes_per_s,
         same_slices ? scaled(like_.l2_bandwidth_bytes_per_s, part) : Number(),
         fmt::format("that of {} by clock and share", like_.device));
  double const size = ratio(d_.l3_bytes.value_or(0), like_.l3_bytes.value_or(0));
  derive("l3_bandwidth_bytes_per_s", d_.l3_bandwidth_bytes_per_s,
         size > 0 ? scaled(like_.l3_bandwidth_bytes_per_s, size) : Number(),
         fmt::format("that of {} by the cache's size", like_.device));
  auto const clocks_of = fmt::format("clocks of {}", like_.device);
  derive("l1_latency_s", d_.l1_latency_s, scaled(like_.l1_latency_s, 1 / clock), clocks_of);
  derive("l2_latency_s", d_.l2_latency_s, scaled(like_.l2_latency_s, 1 / clock), clocks_of);
  derive("l3_latency_s", d_.l3_latency_s, like_.l3_latency_s, fmt::format("that of {}", like_.device));
}

// As of every device: devdb/README.md.
void Sibling::automatch() {
  double const units =
      ratio(static_cast<double>(d_.compute_units.value_or(0)), static_cast<double>(like_.compute_units.value_or(0)));
  double const clock = ratio(d_.clock_hz.value_or(0), like_.clock_hz.value_or(0));
  auto const why = fmt::format("from {} by units, clock, caches and bandwidth", like_.device);
  derive("automatch_cores", d_.automatch_cores, scaled(like_.automatch_cores, units), why);
  derive(
      "automatch_flop_per_s", d_.automatch_flop_per_s,
      d_.peak_fp64_flop_per_s && d_.automatch_cores ? Number(*d_.peak_fp64_flop_per_s / *d_.automatch_cores) : Number(),
      why);
  Number fast = d_.l3_bytes;
  if (d_.kind == "gpu")
    fast = d_.shared_per_cu_bytes && d_.compute_units
               ? Number(static_cast<double>(*d_.shared_per_cu_bytes * *d_.compute_units) + d_.l2_bytes.value_or(0))
               : scaled(like_.automatch_fast_bytes, units);
  derive("automatch_fast_bytes", d_.automatch_fast_bytes, fast, why);
  derive("automatch_line_bytes", d_.automatch_line_bytes, like_.automatch_line_bytes, why);
  derive("automatch_fast_bytes_per_s", d_.automatch_fast_bytes_per_s,
         scaled(like_.automatch_fast_bytes_per_s, units * clock), why);
  derive("automatch_fast_latency_s", d_.automatch_fast_latency_s, like_.automatch_fast_latency_s, why);
  derive("automatch_slow_bytes_per_s", d_.automatch_slow_bytes_per_s,
         d_.measured_bandwidth_bytes_per_s ? d_.measured_bandwidth_bytes_per_s : d_.peak_bandwidth_bytes_per_s, why);
  derive("automatch_slow_latency_s", d_.automatch_slow_latency_s, like_.automatch_slow_latency_s, why);
  derive("automatch_barrier_s", d_.automatch_barrier_s, like_.automatch_barrier_s, why);
}

void scale(Curve& curve, double factor, std::string const& like) {
  for (double& bandwidth : curve.bandwidth_bytes_per_s) bandwidth *= factor;
  if (!curve.source.empty()) curve.source += fmt::format(" ({}, scaled)", like);
}

}  // namespace

void read_siblings(std::string const& path, Origin origin, std::vector<record::OccupancyRule> const& rules,
                   std::vector<Device>& devices) {
  auto in = open_file(path);
  csv::Reader csv(in, path);
  record::RowReader rows(some_columns(), csv);
  auto const extra = [&](std::string_view name) -> std::size_t {
    auto const& names = rows.extra_names();
    return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
  };
  std::size_t const like_at = extra("like"), share_at = extra("share"), columns = rows.extra_names().size();
  for (auto const& name : rows.extra_names())
    if (name != "like" && name != "share") {
      auto known = record::Device::schema().column_names();
      known.insert(known.end(), {"like", "share"});
      throw csv.header_error(0, fmt::format("no column '{}' of devices", name), did_you_mean(name, known));
    }
  std::vector<std::string> ids;
  for (auto const& device : devices) ids.push_back(device.device);
  auto const place_of = [&](std::string const& id) {
    return static_cast<std::size_t>(std::ranges::find(ids, id) - ids.begin());
  };
  while (rows.advance()) {
    auto const cells = rows.extras();
    std::string const like = like_at < columns ? cells[like_at] : std::string();
    std::string const id(rows.cell(0));
    if (id.empty()) throw rows.error("device", "empty, but a value is needed", "an id of its own, in lower case");
    double share = 1;
    if (share_at < columns && !cells[share_at].empty()) {
      auto const number = to_number<double>(cells[share_at]);
      if (!number || !(*number > 0 && *number <= 1))
        throw rows.error("device", fmt::format("share '{}' of '{}' is not above 0 and at most 1", cells[share_at], id),
                         "the part of memory, cache and bandwidth, such as 0.5");
      share = *number;
    }
    record::Device row;
    if (like.empty()) {
      rows.parse(&row);
      check_complete(row, rows);
    } else {
      auto const other = place_of(like);
      if (other == ids.size())
        throw rows.error("device", fmt::format("'{}' is to be like '{}', which is no device", id, like),
                         did_you_mean(like, ids));
      row = Sibling(rows, devices[other], share).take();
    }
    check_figures(row, rows);
    Device device;
    static_cast<record::Device&>(device) = row;
    device.like = like;
    device.share = share;
    device.listed = origin != Origin::slices;
    set_rule(device, rules, rows);
    if (auto const& width = device.rule.wave_width; !device.wave_width) device.wave_width = width;
    auto const known = place_of(id);
    if (known == ids.size()) {
      ids.push_back(id);
      devices.push_back(std::move(device));
    } else if (origin == Origin::user && like == id) {
      device.like = devices[known].like;
      devices[known] = std::move(device);
    } else {
      throw rows.error("device", fmt::format("device '{}' is there already", id),
                       origin == Origin::user ? "give it an id of its own, or make it like itself to change figures"
                                              : "give each row its own id");
    }
  }
}

void measure_siblings(std::vector<Device>& devices) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < devices.size(); ++i) places[devices[i].device] = i;
  for (auto& device : devices) {
    if (device.like.empty() || device.like == device.device) continue;
    auto const& like = devices[places.at(device.like)];
    if (device.target != like.target) continue;
    double const memory =
        ratio(device.peak_bandwidth_bytes_per_s.value_or(0), like.peak_bandwidth_bytes_per_s.value_or(0));
    double const units = ratio(static_cast<double>(device.compute_units.value_or(0)) * device.clock_hz.value_or(0),
                               static_cast<double>(like.compute_units.value_or(0)) * like.clock_hz.value_or(0));
    for (auto const curve : {&Device::global_read, &Device::global_write, &Device::global_copy, &Device::global_triad,
                             &Device::shared_read, &Device::shared_write})
      if ((device.*curve).empty() && !(like.*curve).empty()) {
        device.*curve = like.*curve;
        bool const global = curve != &Device::shared_read && curve != &Device::shared_write;
        scale(device.*curve, global ? memory : units, like.device);
      }
    if (!device.measured_fp32_flop_per_s)
      device.measured_fp32_flop_per_s = scaled(like.measured_fp32_flop_per_s, units);
    if (!device.launch_delay_s) device.launch_delay_s = like.launch_delay_s;
    if (!device.launch_s) device.launch_s = like.launch_s;
    if (!device.queued_launch_s) device.queued_launch_s = like.queued_launch_s;
    device.highest_shared_read_bytes_per_s = like.highest_shared_read_bytes_per_s * units;
    device.highest_shared_write_bytes_per_s = like.highest_shared_write_bytes_per_s * units;
  }
}

std::vector<std::string> user_files() {
  std::vector<std::string> out;
  char const* const configuration = std::getenv("XDG_CONFIG_HOME");
  char const* const home = std::getenv("HOME");
  fs::path const folder = configuration && *configuration ? fs::path(configuration)
                          : home && *home                 ? fs::path(home) / ".config"
                                                          : fs::path();
  if (!folder.empty()) {
    auto const file = folder / "kernelcast" / "devices.csv";
    std::error_code error;
    if (fs::is_regular_file(file, error)) out.push_back(file.string());
  }
  if (char const* const named = std::getenv(variables::devdb_add))
    for (auto const path : split(named, ':'))
      if (!path.empty()) out.emplace_back(path);
  return out;
}

}  // namespace kernelcast::device
