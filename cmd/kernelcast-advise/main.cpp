// kernelcast-advise: the best device for each launch of a running application.
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "emulator/launch/options.hpp"
#include "messages.hpp"
#include "models/rank.hpp"
#include "records/cli/cli.hpp"
#include "records/cli/values.hpp"
#include "records/device/device.hpp"
#include "runtimes/advise/online.hpp"

using namespace kernelcast;

namespace {

struct Options {
  std::string devdb, clock = "usual", emit = "advice", groups = launch::text_of({});
  std::vector<std::string> devices, mappings, as, application;
  std::vector<std::string> registers = frontend::register_targets();
  std::optional<double> budget_pct;
  double timeout_s = 10;
  bool no_cache = false, steer = false, with_gpu = false;
};

// Everything that the application launched as one case, called as the application is.
std::vector<record::Projection> whole_application(advise::Online const& online, Options const& options) {
  auto rows = online.totals;
  for (auto& row : rows) row.case_name = std::filesystem::path(options.application.front()).filename().string();
  return model::total(rows).rows;
}

std::string summary(advise::Online const& online, Options const& options) {
  auto const whole = model::rank(whole_application(online, options));
  std::string const best =
      whole.empty() ? ""
                    : fmt::format("; all of them: {} {}", whole.front().device, advise::message(whole.front().time_s));
  double const share_pct = online.run_s > 0 ? 100 * online.advice_cpu_s / online.run_s : 0;
  std::uint64_t steered = 0;
  for (auto const& row : online.steering) steered += row.launches_steered;
  std::string const moved = options.steer ? fmt::format(", {} steered", steered) : "";
  return fmt::format(
      "{} of {} configurations advised, {} from the cache, {} launches{}{}; advice took {}, {:.1f} % of {}",
      online.advised, online.configurations, online.from_cache, online.launches, moved, best,
      advise::message(online.advice_cpu_s), share_pct, advise::message(online.run_s));
}

// Devices for an application in CUDA.
std::vector<std::string> cuda_devices(std::vector<std::string> const& names, device::DeviceDatabase const& database) {
  std::vector<std::string> out;
  for (auto const& name : names) {
    auto const& found = database.find(name);
    if (found.vendor != "NVIDIA")
      throw Error(Status::unavailable, fmt::format("--as: device '{}' is not a CUDA device", found.device),
                  "any device of NVIDIA, such as a100, h100 or gtx680");
    out.push_back(found.device);
  }
  return out;
}

advise::OnlineOptions online_options(Options const& options, device::DeviceDatabase const& database) {
  advise::OnlineOptions out;
  out.command = options.application;
  out.devices = database.choose(options.devices, device::is_gpu);
  out.model.common.clock = model::panwar::clock_named(options.clock);
  if (options.budget_pct) out.budget_share = *options.budget_pct / 100;
  out.worker.groups = launch::parse_groups(options.groups);
  out.worker.limits.timeout_s = options.timeout_s;
  out.worker.cache = !options.no_cache;
  out.worker.registers = options.registers;
  out.with_gpu = options.with_gpu;
  out.as = cuda_devices(options.as, database);
  out.database = std::filesystem::absolute(database.path()).string();
  if (!options.steer) return out;
  auto& steering = out.steering.emplace();
  steering.database = &database;
  steering.model = out.model;
  for (auto const& mapping : options.mappings) steering.mappings.push_back(advise::parse_mapping(mapping, database));
  return out;
}

template <class Record>
void write(std::vector<Record> const& rows, cli::Streams& io) {
  auto out = io.writer<Record>();
  for (auto const& row : rows) out.write(row);
  out.finish();
}

Status run(Options const& options, cli::Streams& io) {
  bool const as_messages = io.to_standard_output();
  if (options.emit != "advice" && as_messages)
    throw Error(Status::usage,
                fmt::format("--emit {} needs a file to write to: standard output is the application's", options.emit),
                fmt::format("kernelcast-advise --emit {} -o p.csv -- ./app its arguments", options.emit));
  if (options.emit == "steering" && !options.steer)
    throw Error(Status::usage, "--emit steering is for --steer",
                "kernelcast-advise --steer --emit steering -o s.csv -- ./app");
  auto const database = device::load(device::find_database(options.devdb));
  auto advice = online_options(options, database);
  advice.threads = io.threads();
  std::optional<record::Writer<record::Advice>> out;
  if (options.emit == "advice" && !as_messages) out.emplace(io.writer<record::Advice>());
  advice.report = [&](record::Advice const& row) {
    if (as_messages || (!out && row.status != record::RowStatus::ok)) return io.note(advise::message(row));
    if (!out) return;
    out->write(row);
    io.publish();  // each row at once
  };
  auto const online = advise::run_online(advice);
  if (out) out->finish();
  for (auto const& row : online.steering)
    if (auto const text = advise::message(row); as_messages && !text.empty()) io.note(text);
  for (auto const& remark : online.remarks) io.note(remark);
  if (as_messages) io.note(summary(online, options));
  if (options.emit == "steering") write(online.steering, io);
  if (options.emit == "projection") write(online.totals, io);
  if (options.emit == "total") write(whole_application(online, options), io);
  return static_cast<Status>(online.status);
}

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<Options>();
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
                 "the device that a CUDA application sees on the emulator, by its name in the device database; several "
                 "options, several devices")
      ->type_name("DEVICE")
      ->allow_extra_args(false)
      ->excludes(with_gpu);
  app.add_flag("--no-cache", options->no_cache, "compile and count anew, and keep nothing");
  launch::declare_registers(app, options->registers);
  tool.run([options](cli::Streams& io) { return run(*options, io); });
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
