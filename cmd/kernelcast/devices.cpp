// kernelcast devices: what the device database knows, a device a line.
#include <memory>

#include "records/device.hpp"
#include "records/device/listing.hpp"
#include "records/ranking.hpp"
#include "verbs.hpp"

namespace kernelcast::front {

namespace {

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<device::Listing>();
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
  tool.run([options](cli::Streams& io) { device::list_devices(*options, io); });
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
