// execcost: how long the best parallel version of a sequential kernel takes on each device, and what bounds it.
#include <map>
#include <memory>

#include <fmt/format.h>

#include "models/execcost.hpp"
#include "records/cli/cli.hpp"
#include "records/cli/values.hpp"
#include "records/device/device.hpp"

using namespace kernelcast;

namespace {

struct Options {
  std::string devdb, granularity = "8";
  std::vector<std::string> devices;
  double link_bytes_per_s = 0;
};

// Kernels and cases in the order of their first row; the rows of single invocations are part of the total.
std::vector<model::execcost::Work> read_profiles(cli::Streams& io) {
  std::vector<model::execcost::Work> works;
  std::map<std::pair<std::string, std::string>, std::size_t> index;
  for (auto const& path : io.inputs()) {
    auto csv = io.csv(path);
    record::Reader<record::Profile> rows(csv);
    for (record::Profile row; rows.next(row);) {
      if (row.invocation != "total") continue;
      auto const [at, fresh] = index.try_emplace({row.kernel, row.case_name}, works.size());
      if (fresh) {
        works.emplace_back();
        works.back().kernel = row.kernel;
        works.back().case_name = row.case_name;
      }
      try {
        works[at->second].add_row(row);
      } catch (Error const& error) {
        throw rows.error("quantity", error.what(), "write the profile with seqprof");
      }
    }
  }
  return works;
}

model::execcost::Options model_options(Options const& options) {
  model::execcost::Options out;
  out.granularity_bytes = options.granularity == "line" ? 0 : std::stoull(options.granularity);
  if (options.link_bytes_per_s > 0) out.link_bytes_per_s = options.link_bytes_per_s;
  return out;
}

void run(Options const& options, cli::Streams& io) {
  auto const database = device::load(device::find_database(options.devdb));
  auto const devices = database.choose(
      options.devices, [](device::Device const& d) { return model::execcost::missing_columns(d).empty(); });
  auto const model = model_options(options);
  auto const works = read_profiles(io);
  auto out = io.writer<record::ExecutionCost>();
  for (auto const& work : works)
    for (auto const* const device : devices) out.write(model::execcost::project(work, *device, model));
  out.finish();
}

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<Options>();
  auto& app = tool.app();
  cli::database_option(app, options->devdb);
  tool.list("--device", options->devices,
            "only these devices, by id, marketing name or alias; every device with the model's columns when not given",
            "NAME");
  app.add_option("--granularity", options->granularity,
                 "bytes of the stack distances to take (default 8, the paper's): 8, 64, 128, or line for each device's "
                 "own line, of which every reference moves one")
      ->type_name("BYTES")
      ->check(CLI::IsMember({"8", "16", "32", "64", "128", "256", "line"}));
  app.add_option("--link", options->link_bytes_per_s,
                 "add the time to move all touched bytes to a GPU once over a link of this bandwidth, in bytes per "
                 "second")
      ->type_name("RATE")
      ->check(cli::bandwidth());
  tool.run([options](cli::Streams& io) { run(*options, io); });
}

}  // namespace

int main(int argc, char** argv) {
  cli::About const about{
      .name = "execcost",
      .summary = "project sequential code onto parallel devices",
      .description =
          "Reads what a sequential kernel does, as seqprof measures it, and writes how long its best parallel version "
          "takes on every CPU and GPU of the device database that has the model's columns: time of the operations, of "
          "the memory accesses and of global synchronization. A device about which too little is known gets a row "
          "without a time that says why.",
      .input = {&record::Profile::schema()},
      .output = {&record::ExecutionCost::schema()},
      .statuses = {{Status::unavailable, "no such device in the database, or a name that may be several"}},
      .see_also = {"seqprof(1)", "rank(1)", "kernelcast-models(7)"},
      .examples = {{"seqprof --kernel lud lud.c -- 512 | execcost | rank", "which device is worth porting to"},
                   {"execcost --device i5-2400,k20x p.csv | rank --share", "how to split the work over two devices"}}};
  return cli::tool_main(argc, argv, about, declare);
}
