// kernelcast devices: what the device database knows, a device a line.
#include <algorithm>
#include <cctype>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diag/text.hpp"
#include "records/cli/cli.hpp"
#include "records/device.hpp"
#include "records/device/device.hpp"
#include "records/ranking.hpp"
#include "records/table.hpp"
#include "verbs.hpp"

namespace kernelcast::front {

namespace {

struct Options {
  std::string devdb;
  std::vector<std::string> words;
  bool price_template = false;
  CLI::App* app = nullptr;
};

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

std::vector<std::string> measured_of(device::Device const& device) {
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

record::DeviceSummary summary_of(device::Device const& device) {
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

void run(Options const& options, cli::Streams& io) {
  auto const database = device::load(device::find_database(options.devdb));
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

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<Options>();
  auto& app = tool.app();
  app.add_option(
      "WORD", options->words,
      "only devices that have all these words in their names, whatever the letters' case: id, marketing names, "
      "vendor, architecture, kind, compiler's target; a comma joins alternatives, such as l4,l40s; slices of devices "
      "are listed for mig");
  app.add_flag("--price-template", options->price_template,
               "write a price row of each of them instead, to be filled in, for --prices of choose and rank");
  cli::database_option(app, options->devdb);
  options->app = &app;
  tool.run([options](cli::Streams& io) { run(*options, io); });
}

}  // namespace

int devices(int argc, char** argv) {
  cli::About const about{
      .name = "kernelcast devices",
      .summary = "what the device database knows, a device a line",
      .description =
          "Lists the devices of the database with their memory, bandwidth and peaks, what of them is "
          "measured or assumed, and whether measured times have tested the default model on them. A table "
          "unless --format says otherwise.",
      .operands = cli::Operands::none,
      .input = {},
      .output = {&record::DeviceSummary::schema(), &record::Price::schema()},
      .statuses = {{Status::unavailable, "no such device in the database"}},
      .see_also = {"kernelcast(7)", "kernelcast-choose(1)", "perfcast(1)"},
      .examples = {{"kernelcast devices", "all of them"},
                   {"kernelcast devices nvidia hopper", "NVIDIA's devices of the architecture Hopper"},
                   {"kernelcast devices --price-template a100,h100 > prices.csv", "a file to put prices in"},
                   {"kernelcast devices --format csv | mlr --icsv --opprint sort -nr memory_bytes",
                    "those with the largest memory first"}}};
  return cli::tool_main(argc, argv, about, declare);
}

}  // namespace kernelcast::front
