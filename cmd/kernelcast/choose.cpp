// kernelcast choose: one question, one command.
#include <memory>

#include "records/ranking.hpp"
#include "runtimes/choose/choose.hpp"
#include "verbs.hpp"

namespace kernelcast::front {

namespace {

void declare(cli::Tool& tool, std::vector<std::string> application) {
  auto const options = std::make_shared<kernelcast::choose::Choose>();
  options->application = std::move(application);
  auto& app = tool.app();
  app.allow_extras();
  app.add_option("--rows", options->rows,
                 "kernels that were recorded already, by miniemu --attach or kernelcast.torch, instead of a program")
      ->type_name("KERNELS");
  app.add_option("--commands", options->commands, "with --rows: in which order a program asks for them")
      ->type_name("COMMANDS");
  app.add_option("--torch", options->torch,
                 "a PyTorch model instead of a program: a script's function that returns it and its inputs; further "
                 "options are those of python -m kernelcast.torch, such as --train and --dtype")
      ->type_name("SCRIPT:FUNCTION");
  app.add_option("--subject", options->subject, "what the answer calls the program")->type_name("NAME");
  tool.list("--device,--devices", options->devices,
            "only these devices, by id, marketing name or alias; every GPU of the database when not given", "NAME");
  app.add_option("--prices", options->prices,
                 "prices of an hour of the devices (columns device, gpus_per_instance, price_per_hour, currency, "
                 "provider, region, as_of): what a run costs")
      ->type_name("FILE");
  app.add_option("--by", options->by, "the order: time (default), cost, which needs --prices, or energy")
      ->type_name("ORDER")
      ->check(CLI::IsMember({"time", "cost", "energy"}));
  app.add_option("--link", options->link,
                 "what attaches each device to its host, such as 'PCIe 4.0 x8' or NVLink-C2C, or the bytes a second "
                 "that copies of pinned memory reach; default: the device's own, in a slot that may be narrower")
      ->type_name("LINK");
  app.add_option("--system", options->system,
                 "the system that the program's devices are in, by its name in devdb/systems or a file of its links "
                 "it: copies between them go over its links, otherwise through the host")
      ->type_name("NAME");
  app.add_option("--host", options->host,
                 "the host's own time between the calls counts as measured here, not at all (none, the default), or so "
                 "many times as it was measured")
      ->type_name("measured|none|FACTOR");
  app.add_option("--top", options->top, "how many devices to name; as many as fit ten lines unless given")
      ->type_name("N")
      ->check(CLI::Range(1u, 1000u));
  app.add_option("--html", options->html, "also write a page with the answer, its figures and what they rest on")
      ->type_name("FILE");
  app.add_option("--files", options->files,
                 "keep the records between the programs in this folder: kernels.csv, commands.csv, projections.csv, "
                 "ranking.csv, with --html stations.csv, and of an OpenCL program that ran as several devices "
                 "kernels-DEVICE.csv")
      ->type_name("DIR");
  app.add_flag("--explain", options->explain, "say on standard error which programs ran, as a shell takes them");
  cli::database_option(app, options->devdb);
  options->app = &app;
  tool.run([options](cli::Streams& io) { return kernelcast::choose::run(*options, io); });
}

}  // namespace

int choose(int argc, char** argv) {
  auto const application = kernelcast::choose::take_application(argc, argv);
  cli::About const about{
      .name = "kernelcast choose",
      .summary = "which device runs a program fastest, how fast, and why",
      .description =
          "Runs a program behind --, or emulates a kernel or a launch file, and says which device of the database runs "
          "its kernels fastest, how sure that is, what limits them, and what a run costs. CUDA and OpenCL programs run "
          "on the emulator and see the device that --as names, an A100 by default. Without --as an OpenCL program runs "
          "once as a device of each vendor that is asked about (A100, MI300X, Arc A770), as it may launch other "
          "kernels there: each device is then projected from the rows of its vendor, and the answer says where they "
          "differ. What the program prints in the first run goes to standard error. Options that are not listed here "
          "are miniemu's; an application's launches run whole for 30 seconds, or for 45 in all runs together, unless "
          "--budget says otherwise. With --format the ranking is written as records.",
      .operands = cli::Operands::none,
      .input = {&record::Price::schema()},
      .output = {&record::PricedRanking::schema()},
      .statuses = {{Status::finding, "a finding about a kernel, or that status of the program"},
                   {Status::unavailable,
                    "a program of the suite, or what runs the application, is not installed; no "
                    "device can run it"},
                   {Status::limit, "a limit of miniemu was reached"}},
      .see_also = {"miniemu(1)", "perfcast(1)", "rank(1)", "kernelcast-devices(1)", "kernelcast(7)"},
      .examples = {{"kernelcast choose -- ./app input.dat", "which device for this program"},
                   {"kernelcast choose --devices l4,l40s,a100,h100 --prices prices.csv --by cost -- ./app input.dat",
                    "which of these costs least for a run"},
                   {"kernelcast choose saxpy.cl -k saxpy -g 1048576 -l 256 -a buf:f32:1048576:random -a "
                    "buf:f32:1048576:random -a f32:2 -a i32:1048576",
                    "which device for a kernel, with the options of miniemu"},
                   {"kernelcast choose --html page.html --explain launches.toml",
                    "of a launch file, with a page to look at and the programs that ran"}}};
  return cli::tool_main(argc, argv, about, [&](cli::Tool& tool) { declare(tool, application); });
}

}  // namespace kernelcast::front
