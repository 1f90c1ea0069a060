// perfcast: how long a kernel takes on every GPU of the device database, and what limits it there.
#include <memory>

#include <fmt/format.h>

#include "cli/cli.hpp"
#include "cli/values.hpp"
#include "device/device.hpp"
#include "model/panwar.hpp"
#include "model/trivial.hpp"

using namespace kernelcast;

namespace {

struct Options {
  std::string devdb;
  std::vector<std::string> devices;
  std::string clock = "usual", model = "panwar", launch_cost = "0";
  bool explain = false, doubtful = false, launch_delay = false;
  CLI::App const* app = nullptr;  // to see whether --format was given
};

model::panwar::Options model_options(Options const& options) {
  model::panwar::Options out;
  out.clock = model::panwar::clock_named(options.clock);
  if (options.clock != "usual" && options.clock != "base" && options.clock != "boost") {
    if (options.clock.find_first_of("0123456789") != 0)
      throw Error(Status::usage, fmt::format("--clock: no clock '{}'", options.clock),
                  "usual, base, boost, or hertz such as 1.4e9");
    out.clock_hz = cli::positive_number(options.clock, "--clock");
  }
  out.launch_cost = device::launch_cost_named(options.launch_delay ? "device" : options.launch_cost);
  return out;
}

void run(Options const& options, cli::Streams& io) {
  auto const database = device::load(device::find_database(options.devdb),
                                     options.doubtful ? device::Trust::doubtful : device::Trust::ok);
  auto const devices = database.choose(options.devices, device::is_gpu);
  auto const model = model_options(options);
  auto const format = options.explain && options.app->count("--format") == 0 ? record::Format::table : io.format();
  auto const each_row = [&](auto const& write) {
    for (auto const& path : io.inputs()) {
      auto csv = io.csv(path);
      record::Reader<record::Kernel> rows(csv);
      for (record::Kernel kernel; rows.next(kernel);) {
        model::panwar::check(rows, kernel);
        for (auto const* const device : devices) write(kernel, *device);
      }
    }
  };
  if (options.explain && options.model != "panwar")
    throw Error(Status::usage, "--explain: only panwar has terms", "leave out --model");
  if (options.explain) {
    record::Writer<record::Explanation> out(io.output(), format);
    each_row([&](auto const& kernel, auto const& device) {
      out.write(model::panwar::explanation(model::panwar::explain(kernel, device, model)));
    });
    return out.finish();
  }
  auto out = io.writer<record::Projection>();
  each_row([&](auto const& kernel, auto const& device) {
    if (options.model == "panwar") return out.write(model::panwar::project(kernel, device, model));
    for (auto const& projection : model::trivial::project(kernel, device)) out.write(projection);
  });
  out.finish();
}

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<Options>();
  auto& app = tool.app();
  cli::database_option(app, options->devdb);
  tool.list("--device", options->devices,
            "only these devices, by id, marketing name or alias; every GPU of the database when not given", "NAME");
  app.add_option("--model", options->model,
                 "panwar (default), or trivial: what a model has to beat, such as distinct bytes over bandwidth")
      ->type_name("MODEL")
      ->check(CLI::IsMember({"panwar", "trivial"}));
  app.add_option("--clock", options->clock,
                 "usual (default; what the database says a kernel runs at), base, boost or so many "
                 "hertz")
      ->type_name("CLOCK");
  app.add_flag("--explain", options->explain,
               "write explanations: the three terms, the occupancy and what bounds it, as a table unless --format "
               "says otherwise");
  app.add_flag("--doubtful", options->doubtful,
               "also use measurements of the database that are marked doubtful; the reason stands beside them");
  auto* const delay =
      app.add_flag("--launch-delay", options->launch_delay,
                   "add to every launch what the database has measured from its submission to its start, to compare "
                   "with times that were taken so");
  app.add_option("--launch-cost", options->launch_cost,
                 "what each launch costs besides: 0 (default), device (the same as --launch-delay) or so many seconds")
      ->type_name("COST")
      ->excludes(delay);
  options->app = &app;
  tool.run([options](cli::Streams& io) { run(*options, io); });
}

}  // namespace

int main(int argc, char** argv) {
  cli::About const about{
      .name = "perfcast",
      .summary = "project kernels onto devices",
      .description =
          "Reads what kernels do, as miniemu counts it, and writes how long they take on every GPU of the device "
          "database and what limits them there: compute, global or shared memory. A device that cannot run a kernel, "
          "or about which too little is known, gets a row without a time that says why. Transfers between host and "
          "device are not part of the model, launches only with --launch-delay.",
      .input = {&record::Kernel::schema()},
      .output = {&record::Projection::schema(), &record::Explanation::schema()},
      .statuses = {{Status::unavailable, "no such device in the database, or a name that may be several"}},
      .see_also = {"miniemu(1)", "rank(1)", "kernelcast-models(7)"},
      .examples = {
          {"miniemu mmul.cl -k mmul -g 1024,1024 -l 16,16 | perfcast | rank", "which device runs this kernel fastest"},
          {"perfcast --device c1060,hd7970 --explain k.csv", "why two devices take as long as they do"}}};
  return cli::tool_main(argc, argv, about, declare);
}
