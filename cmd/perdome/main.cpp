// perdome: how fast a code can be at most when it is divided over the processors of a system, and how to divide it.
#include <memory>

#include "models/perdome/rows.hpp"
#include "records/cli/shard.hpp"
#include "records/cli/values.hpp"
#include "records/partition.hpp"

using namespace kernelcast;

namespace {

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<model::perdome::PartitionWork>();
  auto& app = tool.app();
  tool.list("--system", options->systems,
            "processors joined by +, as slugs of the device database; goes before a column system", "A+B");
  tool.list(
      "--intensity", options->intensities,
      "operations per byte of the whole code, instead of an input: its perfect data partition, or --sweep, --best",
      "I");
  auto* const sweep = app.add_flag("--sweep", options->sweep,
                                   "all pairs of intensities that two parts can have, with p-DP, each processor alone "
                                   "and the optimum; then the partitions of the input");
  app.add_option("--grid", options->grid, "with --sweep: the intensities, LOW:HIGH:POINTS, evenly on a log scale")
      ->type_name("RANGE")
      ->needs(sweep);
  cli::Shard::declare(tool, options->shard)->needs(sweep);
  app.add_option("--resume", options->resume,
                 "take the rows of a sweep that are in this file from there; the file was made with the same options, "
                 "and may be that of --output")
      ->type_name("FILE")
      ->needs(sweep);
  app.add_flag("--roof", options->roof,
               "also the corners of each system's roofline, as rows named roof, for figure roofline")
      ->excludes(sweep);
  app.add_flag("--best", options->best, "the best division there is, in closed form, and what it gains")
      ->excludes(sweep);
  app.add_option("--link-bandwidth", options->link_bandwidth,
                 "bytes per second between the processors, for partitions with link_bytes or link_intensity")
      ->type_name("BYTES_PER_S")
      ->check(cli::bandwidth());
  app.add_flag("--peaks", options->peaks, "take the database's peaks also where it has the times of [perdome]");
  tool.list("--flop-rate", options->flop_rates, "operations per second of a device, instead of the database's",
            "DEVICE=RATE");
  tool.list("--byte-rate", options->byte_rates, "bytes per second of a device, instead of the database's",
            "DEVICE=RATE");
  cli::database_option(app, options->devdb);
  tool.run([options](cli::Streams& io) { model::perdome::partition_rows(*options, io); });
}

}  // namespace

int main(int argc, char** argv) {
  cli::About const about{
      .name = "perdome",
      .summary = "bounds of a code divided over the processors of a system",
      .description =
          "Reads ways to divide a code over a CPU and a GPU, or over any number of processors, and writes "
          "for each the performance that it cannot exceed and the term that limits it. --best gives the "
          "best division there is.",
      .input = {&record::Partition::schema()},
      .output = {&record::Bound::schema(), &record::Optimum::schema()},
      .statuses = {{Status::unavailable, "a device is not in the database, or a figure of it"}},
      .see_also = {"partsim(1)", "figure(1)"},
      .examples = {{"perdome --system i7-2600k+gtx750 partitions.csv", "the bound of each partition"},
                   {"perdome --system i7-2600k+gtx750 --intensity 1.7 --best", "how to divide a code best"},
                   {"perdome --system i7-2600k+gtx750 --intensity 1.7 --sweep", "the surface of all divisions"}}};
  return cli::tool_main(argc, argv, about, declare);
}
