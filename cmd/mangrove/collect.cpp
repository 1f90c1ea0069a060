// mangrove collect: time and power of an application's kernels on this machine's GPU.
#include <set>

#include <fmt/format.h>

#include "models/forest/study/learning.hpp"
#include "records/cli/values.hpp"
#include "records/device/device.hpp"
#include "runtimes/attach/collect/collect.hpp"
#include "verbs.hpp"

namespace kernelcast::mangrove {

namespace {

struct Options {
  attach::collect::Options collect;
  std::string device, devdb;
  bool no_power = false;
};

// The device's id where the database knows its name, with or without its maker's.
std::string id_of(std::string const& name, device::DeviceDatabase const& database) {
  constexpr std::string_view maker = "NVIDIA ";
  for (auto const& text : {name, name.starts_with(maker) ? name.substr(maker.size()) : name}) try {
      return database.find(text).device;
    } catch (Error const&) {
      continue;
    }
  return name;
}

Status run(Options const& options, cli::Streams& io) {
  auto collect = options.collect;
  collect.power = !options.no_power;
  if (collect.command.empty())
    throw Error(Status::usage, "which application?", "mangrove collect -o targets.csv -- ./app its arguments");
  if (io.to_standard_output())
    throw Error(Status::usage, "a file to write to is needed: standard output is the application's",
                "mangrove collect -o targets.csv -- ./app its arguments");
  auto const database = device::load(device::find_database(options.devdb));
  auto result = attach::collect::collect(collect);
  std::set<std::string> unknown;
  for (auto& row : result.rows) {
    row.device = options.device.empty() ? id_of(row.device, database) : options.device;
    if (!row.reason.empty()) unknown.insert(fmt::format("kernel '{}', {}: {}", row.kernel, row.case_name, row.reason));
  }
  io.write(result.rows);
  for (auto const& text : unknown) io.note(text);
  if (result.rows.empty())
    io.note("the application launched no kernel through a shared CUDA runtime (nvcc -cudart shared)");
  return static_cast<Status>(result.status);
}

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<Options>();
  auto& app = tool.app();
  app.add_option("APPLICATION", options->collect.command, "the application and its arguments, after --");
  app.add_option("--seconds", options->collect.seconds, "repeat each kernel for at least so long (default 1)")
      ->type_name("S")
      ->check(cli::number_from(0, 3600));
  app.add_flag("--no-power", options->no_power, "measure times alone, without NVML");
  tool.list("--skip", options->collect.skip, "kernels not to repeat: they have a row without a time", "NAME");
  app.add_option("--device", options->device,
                 "what the device is called in the rows (default: the database's id of the name that NVML gives)")
      ->type_name("NAME");
  cli::database_option(app, options->devdb);
  tool.run([options](cli::Streams& io) { return run(*options, io); });
}

}  // namespace

int collect(int argc, char** argv) {
  cli::About const about{
      .name = "mangrove collect",
      .summary = "measure time and power of an application's kernels",
      .description =
          "Runs an application of the shared CUDA runtime. The first launch of each kernel with each configuration is "
          "repeated for at least a second, timed, and its power read by NVML; then the device's memory is as it was, "
          "and the application goes on. Ends with the application's exit status.",
      .operands = cli::Operands::none,
      .input = {},
      .output = {&record::Target::schema()},
      .statuses = {{Status::unavailable, "no NVIDIA management library or no device, where power is requested"}},
      .see_also = {"mangrove(1)", "flux-count(1)"},
      .examples = {{"mangrove collect -o targets.csv -- ./app", "measure each kernel of an application"},
                   {"flux-count --attach --emit features -o features.csv -- ./app; "
                    "mangrove train --features features.csv --targets targets.csv -o here.json",
                    "learn from them"}}};
  return cli::tool_main(argc, argv, about, declare);
}

}  // namespace kernelcast::mangrove
