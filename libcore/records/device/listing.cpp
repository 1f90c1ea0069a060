#include "records/device/listing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cctype>
#include <memory>
#include <set>
#include "base/diag/text.hpp"
#include "records/device.hpp"
#include "records/device/device.hpp"
#include "records/ranking.hpp"
#include "records/table/table.hpp"

namespace kernelcast::device {

namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

using Ids = std::set<std::string>;

// Whether each word is part of some name of the device, or one of its alternatives; an id of `ids` means that device
// alone, whose own these are.
bool is_meant(std::vector<std::string> const& words, std::vector<std::string> const& names, Ids const& own,
              Ids const& ids) {
  auto const names_it = [&](std::string const& word) {
    if (ids.contains(lower(word))) return own.contains(lower(word));
    return std::ranges::any_of(names,
                               [&](auto const& name) { return lower(name).find(lower(word)) != std::string::npos; });
  };
  return std::ranges::all_of(words, [&](std::string const& word) {
    auto const alternatives = split(word, ',');
    return std::ranges::any_of(alternatives, [&](auto const one) { return names_it(std::string(one)); });
  });
}

std::vector<std::string> measured_of(Device const& device) {
  std::vector<std::string> out;
  if (device.measured_bandwidth_bytes_per_s) out.emplace_back("bandwidth");
  if (!device.global_read.empty() || !device.global_write.empty()) out.emplace_back("curve");
  if (device.global_latency_s && device.assumed.find("global_latency_s") == std::string::npos)
    out.emplace_back("latency");
  if (device.launch_delay_s) out.emplace_back("launch");
  if (device.measured_fp32_flop_per_s) out.emplace_back("fp32");
  return out;
}

// The columns of "column: reason; column: reason".
std::vector<std::string> assumed_columns(std::string const& assumed, record::Layout const& layout) {
  std::set<std::string> out;
  for (auto const part : split(assumed, ';'))
    for (auto const name : split(part.substr(0, part.find(':')), ',')) {
      auto const column = trimmed(name);
      if (layout.find(column) && !column.starts_with("automatch_") && !column.starts_with("perdome_"))
        out.emplace(column);  // those are of other models
    }
  return {out.begin(), out.end()};
}

record::DeviceSummary summary_of(Device const& device) {
  record::DeviceSummary row;
  row.device = device.device;
  row.name = device.name;
  row.architecture = device.architecture;
  row.kind = device.kind;
  row.memory_bytes = device.memory_bytes;
  row.peak_bandwidth_bytes_per_s = device.peak_bandwidth_bytes_per_s;
  row.peak_fp32_flop_per_s = device.peak_fp32_flop_per_s;
  row.peak_fp64_flop_per_s = device.peak_fp64_flop_per_s;
  row.peak_fp16_flop_per_s = device.peak_fp16_flop_per_s;
  row.tdp_w = device.tdp_w;
  row.validated = record::name(device.residuals.tested(record::ResidualModel::queue));
  row.measured = fmt::format("{}", fmt::join(measured_of(device), ";"));
  row.assumed = fmt::format("{}", fmt::join(assumed_columns(device.assumed, record::Device::schema()), ";"));
  return row;
}

// Rows for the user to fill in.
void write_price_template(std::vector<record::DeviceSummary> const& devices, cli::Streams& io) {
  auto out = io.writer<record::Price>();
  for (auto const& device : devices) {
    record::Price row;
    row.device = device.device;
    out.write(row);
  }
  out.finish();
}

// Slices of devices are listed where a word names them: an id, or mig.
bool names_slice(std::vector<std::string> const& words, std::string const& id) {
  return std::ranges::any_of(words, [&](std::string const& word) {
    return std::ranges::any_of(split(word, ','),
                               [&](auto const one) { return lower(one) == id || lower(one) == "mig"; });
  });
}

}  // namespace

void list_devices(Listing const& options, cli::Streams& io) {
  auto const database = load(find_database(options.devdb));
  std::vector<record::DeviceSummary> rows;
  Ids ids;
  for (auto const& device : database.devices()) ids.insert(device.device);
  for (auto const& device : database.devices()) {
    if (!device.listed && !names_slice(options.words, device.device)) continue;
    std::vector<std::string> names{device.device,       device.name, device.alias, device.vendor,
                                   device.architecture, device.kind, device.target};
    for (auto const& alias : database.aliases())
      if (alias.device == device.device) names.push_back(alias.name);
    if (is_meant(options.words, names, device.listed ? Ids{device.device} : Ids{device.device, device.like}, ids))
      rows.push_back(summary_of(device));
  }
  if (rows.empty())
    throw Error(Status::unavailable, fmt::format("no device has '{}' in its names", fmt::join(options.words, " ")),
                "kernelcast devices lists all; a row of your own: see the database's README");
  if (options.price_template) return write_price_template(rows, io);
  auto const format = options.app->count("--format") == 0 ? record::Format::table : io.format();
  record::Writer<record::DeviceSummary> out(io.output(), format);
  for (auto const& row : rows) out.write(row);
  out.finish();
}

}  // namespace kernelcast::device
