// perfcast: how long a kernel takes on every GPU of the device database, and what limits it there.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "models/own_times.hpp"
#include "models/panwar.hpp"
#include "models/queue.hpp"
#include "models/trivial.hpp"
#include "records/cli/cli.hpp"
#include "records/cli/values.hpp"
#include "records/device/device.hpp"

#include "records/passed_through.hpp"

using namespace kernelcast;

namespace {

struct Options {
  std::string devdb;
  std::vector<std::string> devices;
  std::string clock = "usual", model = "queue", launch_cost, calibrate;
  std::string caches = "program", launches = "alone";
  std::vector<std::string> constants;
  bool constants_only = false, explain = false, doubtful = false, launch_delay = false;
  CLI::App const* app = nullptr;  // to see whether --format was given
};

model::panwar::Options model_options(Options const& options, device::DeviceDatabase const& database) {
  model::panwar::Options out;
  out.clock = model::panwar::clock_named(options.clock);
  if (options.clock != "usual" && options.clock != "base" && options.clock != "boost") {
    if (options.clock.find_first_of("0123456789") != 0)
      throw Error(Status::usage, fmt::format("--clock: no clock '{}'", options.clock),
                  "usual, base, boost, or hertz such as 1.4e9");
    out.clock_hz = cli::positive_number(options.clock, "--clock");
  }
  out.launch_cost = device::launch_cost_named(options.launch_delay          ? "device"
                                              : options.launch_cost.empty() ? "0"
                                                                            : options.launch_cost,
                                              database);
  return out;
}

model::queue::Options queue_options(Options const& options, model::panwar::Options const& common,
                                    device::DeviceDatabase& database) {
  model::queue::Options out;
  out.common = common;
  out.has_launch_cost = options.launch_delay || !options.launch_cost.empty();
  using model::queue::Caches;
  out.caches = options.caches == "cold" ? Caches::cold : options.caches == "warm" ? Caches::warm : Caches::program;
  if (options.launches == "back-to-back") out.launches = model::queue::Launches::back_to_back;
  if (options.launches == "graph") out.launches = model::queue::Launches::graph;
  for (auto const& text : options.constants) {
    auto const equals = text.find('=');
    auto const name = text.substr(0, equals);
    auto const at = name.find('@');
    auto const* const found = record::queue_constant(name.substr(0, at));
    bool const reads = equals != std::string::npos && found;
    double const value = reads ? cli::positive_number(text.substr(equals + 1), "--constant") : 0;
    if (reads && at == std::string::npos)
      out.constants.*found->value = value;
    else if (!reads || !database.set_constant(name.substr(at + 1), found->name, value))
      throw Error(Status::usage, fmt::format("--constant: no constant '{}'", name),
                  "NAME=VALUE, or NAME@TARGET=VALUE; perfcast --constants lists them");
  }
  if (!options.launch_cost.empty())  // devices that it does not name keep the constant
    out.common.launch_cost =
        device::launch_cost_named(options.launch_cost, database, {.of_host = out.constants.launch_s, .of = {}});
  return out;
}

void list_constants(device::DeviceDatabase const& database, cli::Streams& io) {
  auto out = io.writer<record::Constant>();
  for (auto const& c : record::queue_constants) {
    out.write({std::string(c.name), "", record::QueueConstants{}.*c.value, std::string(c.unit), std::string(c.source)});
    for (auto const& own : database.constants())
      if (own.constant == c.name) out.write({own.constant, own.target, own.value, std::string(c.unit), own.source});
  }
  out.finish();
}

// Whether the row is the same launch as those before it: counted for another target, or a variant that runs elsewhere,
// which may have other sizes.
bool is_other_target(std::vector<record::Kernel> const& same, record::Kernel const& row) {
  auto const sizes = [](record::Kernel const& k) {
    return std::tie(k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z);
  };
  auto const& front = same.front();
  return front.kernel == row.kernel && front.case_name == row.case_name &&
         std::ranges::none_of(same, [&](auto const& other) {
           return other.runs_on == row.runs_on && (other.target == row.target || sizes(other) != sizes(row));
         });
}

// Of the variants that run on the device, its own before those of all devices: the row counted for its target, else the
// one without a target, else the first, as what is not of the machine code is the same.
std::size_t row_for(std::vector<record::Kernel> const& same, device::Device const& device) {
  std::size_t best = 0;
  int most = -1;
  for (std::size_t i = 0; i < same.size(); ++i) {
    auto const& row = same[i];
    int const fits =
        (device::runs_on(row.runs_on, device) ? row.runs_on.empty() ? 4 : 8 : 0) + (row.target == device.target ? 2
                                                                                    : row.target.empty()        ? 1
                                                                                                                : 0);
    if (fits > most) best = i, most = fits;
  }
  return best;
}

using Rows = std::vector<record::Kernel>;  // of one launch, by target

// A device as it is projected onto.
struct Target {
  device::Device const* device;
  model::queue::Options options;
};

std::string said(char const* what, std::optional<model::OwnFigure> const& figure, char const* unit) {
  return figure ? fmt::format("; {} {:.3g} {} from {} times", what, figure->value, unit, figure->times) : "";
}

// The devices of which `path` has times, as those say that they are; in `kept`.
void learn(std::string const& path, std::vector<Rows> const& launches, device::DeviceDatabase const& database,
           std::vector<Target>& targets, std::vector<model::OwnDevice>& kept, cli::Streams& io) {
  std::map<std::string, std::vector<record::Measured>> measured;  // by device
  auto csv = io.csv(path);
  record::Reader<record::Measured> rows(csv);
  std::size_t unknown = 0, others = 0;
  for (record::Measured m; rows.next(m);) {
    if (!m.time_s) continue;
    if (!(*m.time_s > 0)) throw rows.error("time_s", "a time must be above 0", "an unknown time is an empty cell");
    try {
      measured[database.find(m.device).device].push_back(m);
    } catch (Error const& error) {
      if (error.status() != Status::unavailable) throw;
      ++unknown;
    }
  }
  kept.reserve(targets.size());
  for (auto& target : targets) {
    std::vector<model::OwnTime> times;
    for (auto const& m : measured[target.device->device]) {
      auto const launch = std::find_if(launches.begin(), launches.end(), [&](Rows const& same) {
        return same.front().kernel == m.kernel && same.front().case_name == m.case_name;
      });
      if (launch == launches.end())
        ++others;
      else
        times.push_back({&(*launch)[row_for(*launch, *target.device)], *m.time_s});
    }
    if (times.empty()) continue;
    auto const& own = kept.emplace_back(model::learn(*target.device, times, target.options));
    io.note(fmt::format("{}: {} times{}{}{}{}", own.device.device, times.size(), said("a launch", own.launch_s, "s"),
                        said("memory", own.bandwidth_bytes_per_s, "B/s"), said("clock", own.clock_hz, "Hz"),
                        own.kernels > 0 ? fmt::format("; intervals from {} kernels", own.kernels) : ""));
    target = {&own.device, own.options};
  }
  if (unknown + others > 0)
    io.note(fmt::format("measured times of other devices or kernels, left out: {}", unknown + others));
  if (kept.empty())
    throw Error(Status::bad_data, Where{path}, "no time is of a kernel and a device that are projected",
                "columns kernel, case and device must be those of the projection");
}

void run(Options const& options, cli::Streams& io) {
  // With the columns of the user's own that a kernel's row has, such as the parameters of a sweep.
  record::PassingWriter<record::Projection> projections(
      [&](auto names) { return io.writer<record::Projection>(std::move(names)); });
  auto database = device::load(device::find_database(options.devdb),
                               options.doubtful ? device::Trust::doubtful : device::Trust::ok);
  if (options.constants_only) return list_constants(database, io);
  auto const devices = database.choose(options.devices, device::is_gpu);
  auto const model = model_options(options, database);
  auto const format = options.explain && options.app->count("--format") == 0 ? record::Format::table : io.format();
  auto const each_rows = [&](auto const& write) {  // rows of one launch, by target
    for (auto const& path : io.inputs()) {
      auto csv = io.csv(path);
      record::Reader<record::Kernel> rows(csv);
      if (options.calibrate.empty()) projections.begin(rows);
      std::vector<record::Kernel> same;
      auto const flush = [&] {
        if (!same.empty()) write(same);
        same.clear();
      };
      auto const next = [&](record::Kernel& kernel) {
        try {
          if (!rows.next(kernel)) return false;
          model::queue::Kernel::check(rows, kernel);
          return true;
        } catch (Error const&) {
          flush();  // what precedes a bad row is projected
          throw;
        }
      };
      for (record::Kernel kernel; next(kernel); kernel = {}) {
        if (!same.empty() && !is_other_target(same, kernel)) flush();
        if (same.empty() && options.calibrate.empty()) projections.of(rows);
        same.push_back(std::move(kernel));
      }
      flush();
    }
  };
  if (!options.calibrate.empty() && options.model != "queue")
    throw Error(Status::usage, "--calibrate: only the queue learns from times", "leave out --model");
  if (options.explain && options.model == "trivial")
    throw Error(Status::usage, "--explain: these models have no terms", "leave out --model");
  if (options.model == "queue") {
    auto const queue = queue_options(options, model, database);
    model::queue::Terms terms;
    std::vector<Target> targets;
    for (auto const* const device : devices) targets.push_back({device, queue});
    std::vector<Rows> launches;  // all of them, to learn from
    std::vector<model::OwnDevice> own;
    if (!options.calibrate.empty()) {
      each_rows([&](Rows const& same) { launches.push_back(same); });
      learn(options.calibrate, launches, database, targets, own, io);
    }
    auto const each_projection = [&](auto const& write) {
      auto const project = [&](Rows const& same) {
        std::vector<model::queue::Kernel> const ready(same.begin(), same.end());
        for (auto const& [device, with] : targets) {
          ready[row_for(same, *device)].explain(*device, with, terms);
          write(terms);
        }
      };
      if (options.calibrate.empty()) return each_rows(project);
      for (auto const& same : launches) project(same);
    };
    if (options.explain) {
      record::Writer<record::Stations> out(io.output(), format);
      each_projection([&](auto const& of) { out.write(model::queue::explanation(of)); });
      return out.finish();
    }
    each_projection([&](auto const& of) { projections.write(of.projection); });
    return projections.finish();
  }
  auto const each_row = [&](auto const& write) {
    each_rows([&](std::vector<record::Kernel> const& same) {
      for (auto const* const device : devices) write(same[row_for(same, *device)], *device);
    });
  };
  if (options.explain) {
    record::Writer<record::Explanation> out(io.output(), format);
    each_row([&](auto const& kernel, auto const& device) {
      out.write(model::panwar::explanation(model::panwar::explain(kernel, device, model)));
    });
    return out.finish();
  }
  model::panwar::Terms terms;
  each_row([&](auto const& kernel, auto const& device) {
    if (options.model == "panwar") {
      model::panwar::explain(kernel, device, model, terms, terms.projection);
      return projections.write(terms.projection);
    }
    for (auto const& projection : model::trivial::project(kernel, device)) projections.write(projection);
  });
  projections.finish();
}

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<Options>();
  auto& app = tool.app();
  cli::database_option(app, options->devdb);
  tool.list("--device", options->devices,
            "only these devices, by id, marketing name or alias; every GPU of the database when not given", "NAME");
  app.add_option("--model", options->model,
                 "queue (default), panwar, or trivial: what a model has to beat, such as distinct bytes over bandwidth")
      ->type_name("MODEL")
      ->check(CLI::IsMember({"queue", "panwar", "trivial"}));
  app.add_option(
         "--caches", options->caches,
         "what caches hold when the first launch begins: program (default), what the application has left there "
         "by column touched_before, else nothing; cold, nothing; warm, what a launch before like it has left; of "
         "queue")
      ->type_name("STATE")
      ->check(CLI::IsMember({"program", "cold", "warm"}));
  app.add_option("--launches", options->launches,
                 "alone (default), each waited for by the host; back-to-back: the host is ahead, and of a launch's "
                 "cost counts what the execution before does not hide; or graph: those of a row are nodes of a CUDA "
                 "graph, and each after the first costs the constant graph_node_s; of queue")
      ->type_name("HOW")
      ->check(CLI::IsMember({"alone", "back-to-back", "graph"}));
  app.add_flag("--constants", options->constants_only,
               "list the constants of queue, with their units and sources, and do nothing else");
  tool.list("--constant", options->constants,
            "another value for a constant of queue, to see what depends on it; "
            "NAME@TARGET for one that an architecture has of its own",
            "NAME=VALUE");
  app.add_option("--calibrate", options->calibrate,
                 "times that were measured on a device of yours (columns kernel, case, device, time_s), of kernels "
                 "among the input: what a launch costs there, its bandwidth and its clock, each from three times or "
                 "more, and its intervals from those of 19 kernels or more; of queue")
      ->type_name("FILE");
  app.add_option("--clock", options->clock,
                 "usual (default; what the database says a kernel runs at), base, boost or so many "
                 "hertz")
      ->type_name("CLOCK");
  app.add_flag(
      "--explain", options->explain,
      "write what the time consists of: stations, queue, latency, launches, or the terms of panwar, as a table "
      "unless --format says otherwise");
  app.add_flag("--doubtful", options->doubtful,
               "also use measurements of the database that are marked doubtful; the reason stands beside them");
  auto* const delay =
      app.add_flag("--launch-delay", options->launch_delay,
                   "add to every launch what the database has measured from its submission to its start, to compare "
                   "with times that were taken so");
  app.add_option(
         "--launch-cost", options->launch_cost,
         "what each launch costs besides: 0, device (the same as --launch-delay) or so many seconds; unless "
         "given what hosts have seen of the device's launches, or 5e-6, and 0 with panwar; rtx3080=2e-6 for one "
         "device, joined by commas, as what it costs depends on the host")
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
          "database and what limits them there. The default model is a queue: work-groups that are resident on a "
          "compute "
          "unit wait for their own results and take turns at its pipes, caches and memory; launches cost a constant. A "
          "device that cannot run a kernel, or about which too little is known, gets a row without a time that says "
          "why. Transfers between host and device are not part of the models.",
      .input = {&record::Kernel::schema()},
      .output = {&record::Projection::schema(), &record::Stations::schema(), &record::Explanation::schema(),
                 &record::Constant::schema()},
      .statuses = {{Status::unavailable, "no such device in the database, or a name that may be several"}},
      .see_also = {"miniemu(1)", "rank(1)", "kernelcast-models(7)"},
      .examples = {
          {"miniemu mmul.cl -k mmul -g 1024,1024 -l 16,16 | perfcast | rank", "which device runs this kernel fastest"},
          {"perfcast --device c1060,hd7970 --explain k.csv", "why two devices take as long as they do"}}};
  return cli::tool_main(argc, argv, about, declare);
}
