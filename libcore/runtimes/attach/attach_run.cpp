#include "runtimes/attach/attach_run.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "emulator/launch/trace_observer.hpp"
#include "records/cli/output_file.hpp"
#include "records/cli/shard.hpp"
#include "records/device/device.hpp"
#include "records/table/labels.hpp"
#include "records/table/table.hpp"
#include "records/trace.hpp"
#include "runtimes/attach/attach.hpp"
#include "runtimes/attach/offload.hpp"

namespace kernelcast::attach {

void declare_attach(CLI::App& app, AttachCommand& command) {
  CLI::Validator const policy(
      [](std::string& text) {
        bool const number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos && text != "0";
        return number || text == "launch" || text == "kernel" ? std::string{} : "launch, kernel, or a number from 1";
      },
      "");
  auto* const attach =
      app.add_flag("--attach", command.given,
                   "run the OpenCL or CUDA application that follows -- and emulate the kernels it launches; its own "
                   "output and exit status are unchanged, rows go to the file of -o as they become known");
  app.add_option("--every", command.every,
                 "with --attach: emulate every launch, the first of each kernel, or every Nth launch of a kernel; "
                 "otherwise the first launch of each kernel with other sizes")
      ->type_name("launch|kernel|N")
      ->check(policy)
      ->needs(attach);
  app.add_option("--keep", command.keep,
                 "with --attach: keep the launches in this folder, as launch files that can be run again")
      ->type_name("DIR")
      ->needs(attach);
  app.add_option("--read-back", command.read_back_bytes,
                 "with --attach: read back at most so many bytes of an OpenCL launch's buffers, the beginning of each "
                 "(default 64 MB); 0 = all; KB, MB, GB are accepted")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("BYTES")
      ->needs(attach);
  app.add_option("--kernels", command.kernels,
                 "with --attach --emit trace: trace only these kernels, by their names in rows or in the source")
      ->type_name("NAME")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->needs(attach);
  auto* const commands =
      app.add_option("--commands", command.commands,
                     "with --attach: write what an application asks of its devices, in order and with what each waits "
                     "for, to this file, for rank --total --commands")
          ->type_name("FILE")
          ->needs(attach);
  app.add_option(
         "--vary", command.vary,
         "with --attach: run the application once for each of these values of a variable of its environment; of "
         "several variables once for each combination. The rows have the values as case and columns")
      ->type_name("NAME=VALUE,VALUE")
      ->allow_extra_args(false)
      ->needs(attach)
      ->excludes(commands);
  app.add_flag("--summary", command.summary,
               "with --attach: say at the end what a CUDA application asked of its device, and what is missing; on a "
               "terminal that is said anyway")
      ->needs(attach);
  auto* const with_gpu =
      app.add_flag(
             "--with-gpu", command.with_gpu,
             "with --attach: a CUDA application runs on the GPU that there is, and is observed; otherwise it runs "
             "on the emulator")
          ->needs(attach)
          ->excludes(commands);
  app.add_option(
         "--as", command.as,
         "with --attach: the device that the application sees, by its name in the device database; several options, "
         "several devices. An OpenCL application then runs on the emulator, too; without it, where there is no "
         "OpenCL driver")
      ->type_name("DEVICE")
      ->allow_extra_args(false)
      ->needs(attach)
      ->excludes(with_gpu);
  app.add_option("--budget", command.budget,
                 "with --attach: launches on the emulator run whole as long as they execute at most so many warp "
                 "instructions together, or, with an s behind the number, for so many seconds; of others only some "
                 "groups run, and what they should leave is missing")
      ->type_name("N|SECONDSs")
      ->needs(attach)
      ->excludes(with_gpu);
  app.add_option("--execute", command.execute,
                 "with --attach: of launches on the emulator whose configuration is known, run all, or (the default) "
                 "the needed ones: not those that would write the same once more")
      ->type_name("all|needed")
      ->check(CLI::IsMember({"all", "needed"}))
      ->needs(attach)
      ->excludes(with_gpu);
  cli::database_option(app, command.database, "the device database to take --as from, instead of the installed one")
      ->needs(attach);
}

namespace {

// The database, and ids of what was asked for in it. Without a database there are only OpenCL applications.
void choose_devices(AttachCommand const& command, AttachOptions& options) {
  try {
    options.database = device::find_database(command.database);
  } catch (Error const&) {
    if (!command.as.empty() || !command.database.empty()) throw;
    return;
  }
  if (!command.as.empty()) options.as = devices_named(command.as, device::load(options.database));
}

// "100000" warp instructions, "60s" seconds.
void read_budget(std::string const& text, AttachOptions& options) {
  if (text.empty()) return;
  bool const in_seconds = text.back() == 's';
  char const* const end = text.data() + text.size() - (in_seconds ? 1 : 0);
  auto const [at, error] = in_seconds ? std::from_chars(text.data(), end, options.budget_seconds)
                                      : std::from_chars(text.data(), end, options.budget);
  if (error != std::errc{} || at != end || (options.budget == 0 && options.budget_seconds <= 0))
    throw Error(Status::usage, fmt::format("--budget: '{}' is neither a number of warp instructions nor seconds", text),
                "--budget 1000000000 or --budget 60s");
}

constexpr int signal_base = 128;  // of an exit status

// How the application ended, where it did so early: "it was ended by signal 11 (Segmentation fault)".
std::string ended_early(attach::Attached const& attached) {
  if (attached.status == 0) return {};
  auto text = attached.status > signal_base
                  ? fmt::format("it was ended by signal {} ({})", attached.status - signal_base,
                                strsignal(attached.status - signal_base))
                  : fmt::format("it exited with status {}", attached.status);
  if (!attached.running.empty()) text += " while " + attached.running + " ran";
  return text;
}

std::string without_rows(attach::Attached const& attached, std::string const& program) {
  auto const ended = ended_early(attached);
  auto const offload = attach::hint_of_offload(program, attached.usage.has_value());
  std::string const so = (ended.empty() ? "" : ": " + ended) + (offload.empty() ? "" : "\nhint: " + offload);
  if (attached.usage)
    return (attached.running.empty() ? "no row: the application called CUDA and launched no kernel"
                                     : "no row: no launch has ended") +
           so;
  std::string const none = "no row: no launch was seen, by OpenCL or by CUDA" + so;
  return ended.empty() && offload.empty()
             ? none +
                   "\nhint: an application that clears its environment before it first calls OpenCL or CUDA is "
                   "not reached"
             : none;
}

struct Point {
  std::string name;
  std::vector<std::pair<std::string, std::string>> variables;
};

// The combinations of the values, the first variable outermost.
std::vector<Point> points_of(std::vector<std::string> const& vary) {
  std::vector<Point> out{{}};
  for (auto const& text : vary) {
    auto const [variable, values] = record::named_value(text);
    if (variable.empty() || values.empty())
      throw Error(Status::usage, fmt::format("--vary: '{}' is not NAME=VALUE,VALUE", text),
                  "--vary OMP_NUM_TEAMS=16,32");
    std::vector<Point> longer;
    for (auto const& point : out)
      for (auto rest = values; !rest.empty();) {
        auto const end = std::min(rest.find(','), rest.size());
        auto& added = longer.emplace_back(point);
        added.variables.emplace_back(variable, rest.substr(0, end));
        added.name += fmt::format("{}{}={}", point.name.empty() ? "" : " ", variable, rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    out = std::move(longer);
  }
  std::set<std::string> names;
  for (auto const& point : out)
    if (!names.insert(point.name).second)
      throw Error(Status::usage, fmt::format("--vary: '{}' is duplicated", point.name), "each value once");
  return out;
}

record::Labels columns_of(Point const& point) {
  record::Labels out;
  for (auto const& [variable, value] : point.variables) {
    if (out.taken<record::Kernel>(variable))
      throw Error(Status::usage, fmt::format("--vary: there is a column '{}' already", variable),
                  "let the application read another variable");
    out.add({variable, value});
  }
  return out;
}

Status run_varied(AttachCommand const& command, launch::SweepCommand const& sweep, AttachOptions options,
                  cli::Streams& io) {
  if (command.graph || options.run.emit != launch::Emit::kernel || !command.keep.empty())
    throw Error(Status::usage, "--vary writes kernel rows",
                "leave out --emit and --keep, or set the variable for one run");
  auto const points = points_of(command.vary);
  auto const done = launch::read_done(sweep.resume, io);
  launch::KernelRows out(false, columns_of(points.front()), io);
  cli::Shard shard(sweep.shard);
  std::size_t known = 0;
  for (std::size_t p = 0; p < points.size(); ++p) {
    if (!shard.takes_next()) continue;
    auto const& point = points[p];
    std::vector<std::string> values;
    for (auto const& variable : point.variables) values.push_back(variable.second);
    auto const found = done.find(point.name);
    if (found != done.end()) {
      for (auto const& row : found->second) out.write(row, 0, values);
      ++known;
    } else {
      io.progress(fmt::format("run {} of {}", p + 1, points.size()));
      options.variables = point.variables;
      auto const attached = attach::run(options);
      auto const at = point.name + ": ";
      if (attached.rows.empty()) io.note(at + without_rows(attached, command.application.front()));
      if (attached.status != 0) {
        io.note(at + ended_early(attached));
        return static_cast<Status>(attached.status);
      }
      if (attached.rows.empty()) return Status::unavailable;
      for (auto row : attached.rows) {
        row.case_name = point.name;
        out.write(row, 0, values);
      }
    }
    // As of a launch file's sweep: what is in the file that is resumed is not lost to an interruption.
    bool const loses = (found != done.end() || known < done.size()) && io.would_replace(sweep.resume);
    if (io.format() == record::Format::csv && !loses) io.publish();
  }
  out.finish();
  return Status::done;
}

}  // namespace

Status run_attached(AttachCommand const& command, launch::SweepCommand const& sweep, launch::RunOptions const& run,
                    bool cache, std::vector<std::string> const& registers, cli::Streams& io) {
  if (io.to_standard_output())
    throw Error(Status::usage, "--attach needs a file to write to: standard output is the application's",
                "miniemu --attach -o kernels.csv -- ./app its arguments");
  if (command.graph && !command.budget.empty())
    throw Error(Status::usage, "--emit graph and --budget exclude each other", "a graph needs all groups of launches");
  if (command.graph && !command.every.empty())
    throw Error(Status::usage, "--emit graph and --every exclude each other",
                "a graph needs every configuration once, and has every launch");
  AttachOptions options;
  bool const trace = run.emit == launch::Emit::trace;
  if (!command.kernels.empty() && !trace)
    throw Error(Status::usage, "--kernels is for --emit trace",
                "rows are of all kernels; column kernel tells them apart");
  options.command = command.application;
  options.kernels = command.kernels;
  options.every = command.every;
  options.keep = command.keep;
  options.read_back_bytes = command.read_back_bytes;
  read_budget(command.budget, options);
  options.execute = command.execute;
  options.run = run;
  options.cache = cache;
  options.registers = registers;
  options.with_gpu = command.with_gpu;
  choose_devices(command, options);
  options.report = [&io](std::string_view text) { io.note(text); };
  options.graph = command.graph;
  if (!command.vary.empty()) {
    options.progress = nullptr;  // of one run
    return run_varied(command, sweep, std::move(options), io);
  }
  std::unique_ptr<record::Writer<record::Kernel>> known;
  std::optional<record::Writer<record::Trace>> traced;
  std::optional<launch::TraceOutput> output;
  if (trace) options.run.trace = &output.emplace(traced.emplace(io.writer<record::Trace>()), io.format());
  if (!trace && !command.graph && io.can_start_over() && io.format() == record::Format::csv)
    options.known = [&](record::Kernel const& row) {  // an interruption loses nothing
      if (!known) known = std::make_unique<record::Writer<record::Kernel>>(io.writer<record::Kernel>());
      known->write(row);
      io.publish();
    };
  std::optional<cli::OutputFile> commands;
  if (options.commands = !command.commands.empty(); options.commands) commands.emplace(command.commands);
  options.progress = [&io](std::string_view text) { io.progress(text); };
  auto const attached = attach::run(options);
  if (commands) {
    record::Writer<record::Command> writer(commands->stream());
    for (auto const& row : attached.commands) writer.write(row);
    writer.finish();
    commands->commit();
  }
  if (command.graph) {
    graph::write_recording(io.output(), attached.recording);
    if (attached.recording.commands.empty()) io.note("the graph is empty: the application gave no command");
  } else if (trace) {
    output->flush();
    traced->finish();
  } else {
    io.start_over();  // each row so far stood for one launch
    io.write(attached.rows);
  }
  if (attached.skipped > 0)
    io.note(fmt::format("{} configuration{} without a row", attached.skipped, attached.skipped == 1 ? "" : "s"));
  else if (trace && attached.rows.empty())
    io.note("no trace: no launch of such a kernel was seen, or none has a launch file");
  else if (!command.graph && attached.rows.empty())
    io.note(without_rows(attached, command.application.front()));
  if (attached.status > signal_base && !attached.rows.empty())
    io.note("the rows are those until the application ended: " + ended_early(attached));
  bool const summary = command.summary || (isatty(STDERR_FILENO) == 1 && !trace && !command.graph);
  if (summary && attached.usage && (attached.usage->launches > 0 || attached.usage->library_calls > 0))
    io.print_message("miniemu: what the application asked of CUDA\n" +
                     attach::summary(*attached.usage, attached.rows, attached.skipped));
  if (attached.status != 0) return static_cast<Status>(attached.status);
  if (attached.found) return Status::finding;
  if (attached.skipped == 0 || !attached.rows.empty()) return Status::done;
  std::string const none = "no configuration has a row: what is above says why; there is nothing to project";
  io.note(attached.usage ? none
                         : none +
                               "\nhint: an OpenCL application that adapts to this machine's processor runs as on a GPU "
                               "with --as");
  return Status::unavailable;
}

}  // namespace kernelcast::attach
