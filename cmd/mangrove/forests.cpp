// mangrove forests: the forests that the device database brings along.
#include <set>

#include "models/forest/study/learning.hpp"
#include "models/forest/study/shipped_index.hpp"
#include "records/device/device.hpp"
#include "verbs.hpp"

namespace kernelcast::mangrove {

namespace {

struct Options {
  std::vector<std::string> devices;
  std::string devdb;
};

void run(Options const& options, cli::Streams& io) {
  auto const folder = device::find_database(options.devdb);
  auto rows = forest::shipped_index(io, folder);
  if (!options.devices.empty()) {
    auto const database = device::load(folder);
    std::set<std::string> wanted;
    for (auto const& name : options.devices) wanted.insert(database.find(name).device);
    std::erase_if(rows, [&](auto const& row) { return !wanted.contains(row.device); });
  }
  io.write(rows);
}

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<Options>();
  tool.list("--device", options->devices, "only those of these devices", "NAME");
  cli::database_option(tool.app(), options->devdb);
  tool.run([options](cli::Streams& io) { run(*options, io); });
}

}  // namespace

int forests(int argc, char** argv) {
  cli::About const about{
      .name = "mangrove forests",
      .summary = "list the forests that come with the device database",
      .description =
          "A row for each: device, what it was trained on, the columns that it reads, and how far its held-out "
          "predictions were off, beside the best trivial predictor.",
      .operands = cli::Operands::none,
      .input = {},
      .output = {&record::ShippedForest::schema()},
      .statuses = {{Status::unavailable, "the device database has no forests"}},
      .see_also = {"mangrove(1)"},
      .examples = {{"mangrove forests --device v100", "what can be predicted for a V100 without training?"}}};
  return cli::tool_main(argc, argv, about, declare);
}

}  // namespace kernelcast::mangrove
