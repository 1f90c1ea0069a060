// kernelcast-advise: the best device for each launch of a running application.
#include <memory>

#include <fmt/format.h>

#include "emulator/launch/options.hpp"
#include "records/advice.hpp"
#include "records/cli/values.hpp"
#include "records/projection.hpp"
#include "records/steering.hpp"
#include "runtimes/advise/rows.hpp"

using namespace kernelcast;

namespace {

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<advise::AdviseRows>();
  auto& app = tool.app();
  app.add_option("APPLICATION", options->application, "the OpenCL or CUDA application to run, and its arguments")
      ->required();
  app.add_option("--budget", options->budget_pct,
                 "processor time that all advice may take, in percent of the application's run time so far; without "
                 "it every launch is advised on, after the application's end where need be")
      ->type_name("PCT")
      ->check(cli::number_from(0.01, 10000));
  cli::database_option(app, options->devdb);
  tool.list("--device", options->devices,
            "only these devices, by id, marketing name or alias; every GPU of the database when not given", "NAME");
  app.add_option("--clock", options->clock, "usual (default; what the database says a kernel runs at), base or boost")
      ->type_name("CLOCK")
      ->check(CLI::IsMember({"usual", "base", "boost"}));
  app.add_option(
         "--emit", options->emit,
         "the record that goes to the file of -o: advice, a row for each distinct launch as soon as it is "
         "known; at the end, projection: all devices and the times of all launches, by configuration; total: the same "
         "of the whole application; or steering, with --steer: where the launches of each configuration went")
      ->type_name("advice|projection|total|steering")
      ->check(CLI::IsMember({"advice", "projection", "total", "steering"}))
      ->capture_default_str();
  app.add_option("--groups", options->groups,
                 "groups of each launch to emulate: spread, first, all or so many, as of miniemu")
      ->type_name("GROUPS")
      ->capture_default_str();
  app.add_option("--timeout", options->timeout_s,
                 "give up on a launch when its emulation takes so many seconds; 0 = never")
      ->type_name("SECONDS")
      ->check(cli::seconds())
      ->capture_default_str();
  auto* const steer = app.add_flag(
      "--steer", options->steer,
      "send launches to the device that is projected to be the fastest of those that the application's OpenCL context "
      "has and that can take them; until that is known, and otherwise, they go where the application says");
  tool.list("--device-map", options->mappings,
            "with --steer: which device of the database an OpenCL device is; OPENCL is its number among the devices of "
            "all platforms, from 0 (a part of it: 0.1), its name, or a part of its name",
            "OPENCL=ID")
      ->needs(steer);
  auto* const with_gpu = app.add_flag(
      "--with-gpu", options->with_gpu,
      "a CUDA application runs on the GPU that there is, and is observed; otherwise it runs on the emulator");
  app.add_option("--as", options->as,
                 "the device that the application sees, by its name in the device database; several options, several "
                 "devices. An OpenCL application then runs on the emulator, too; without it, where there is no "
                 "OpenCL driver")
      ->type_name("DEVICE")
      ->allow_extra_args(false)
      ->excludes(with_gpu);
  app.add_flag("--no-cache", options->no_cache, "compile and count anew, and keep nothing");
  launch::declare_registers(app, options->registers);
  tool.run([options](cli::Streams& io) { return advise::advise_rows(*options, io); });
}

}  // namespace

int main(int argc, char** argv) {
  cli::About const about{
      .name = "kernelcast-advise",
      .summary = "advise on devices for each launch of a running application",
      .description =
          "Runs an OpenCL or CUDA application as it is and reports, for each distinct launch of a kernel, which device "
          "of the "
          "database would run it fastest, how long it takes there, and what it cost to know. Launches are emulated by "
          "other processes, beside the application, within a budget if one is given; what was counted once is "
          "remembered. The application's output and exit status are its own. Without -o the advice goes to standard "
          "error, as messages.",
      .operands = cli::Operands::none,
      .input = {},
      .output = {&record::Advice::schema(), &record::Projection::schema(), &record::Steering::schema()},
      .statuses = {{Status::unavailable,
                    "no such device, or what is to run in the application is not installed; any status may also be "
                    "the application's own"}},
      .see_also = {"miniemu(1)", "perfcast(1)", "libkernelcast(3)"},
      .examples = {
          {"kernelcast-advise -- ./app input.dat", "advice on stderr while the application runs"},
          {"kernelcast-advise --budget 5 --device a100,mi300x -o advice.csv -- ./app", "within 5 % of its time"},
          {"kernelcast-advise --emit total -o p.csv -- ./app && rank p.csv",
           "which device is best for the whole application"}}};
  return cli::tool_main(argc, argv, about, declare);
}
