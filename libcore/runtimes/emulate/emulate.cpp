#include "runtimes/emulate/emulate.hpp"

#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/process/ending.hpp"
#include "emulator/launch/machine_code.hpp"
#include "emulator/launch/options.hpp"
#include "emulator/launch/sweep_runs.hpp"
#include "emulator/launch/trace_observer.hpp"
#include "records/command.hpp"
#include "records/table/selection.hpp"
#include "records/trace.hpp"
#include "runtimes/attach/attach_run.hpp"

namespace kernelcast::emulate {

namespace {

constexpr unsigned findings_named = 100;  // unless --findings says, where they do not end the run

std::vector<std::string> machine_targets(Emulate const& options) {
  for (auto const& text : options.machine_targets) {
    auto const target = launch::MachineCode::target_of(text);
    if (target.name != launch::MachineCode::by_rules && !frontend::is_machine_target(target.name))
      throw Error(Status::usage, fmt::format("--machine-code: no target '{}'", target.name),
                  "targets are sm_75, sm_86, sm_90a, gfx90a, gfx1032; ptx for all others");
    if (text.find('=') != std::string::npos && (target.listing.empty() || !frontend::is_amd_target(target.name)))
      throw Error(Status::usage, fmt::format("--machine-code: no file of machine code in '{}'", text),
                  "gfx942=kernel.s, of AMD's targets alone: ptxas makes that of NVIDIA's");
  }
  if (!options.machine_targets.empty() && options.emit != "kernel")
    throw Error(Status::usage, "--machine-code is for kernel rows", "leave out --emit");
  return options.machine_targets;
}

launch::RunOptions run_options(Emulate const& options, cli::Streams& io) {
  auto run = launch::run_options(options.launch, io);
  static std::map<std::string, launch::Emit> const records{{"kernel", launch::Emit::kernel},
                                                           {"graph", launch::Emit::kernel},
                                                           {"trace", launch::Emit::trace},
                                                           {"lines", launch::Emit::lines},
                                                           {"blocks", launch::Emit::blocks}};
  run.emit = records.at(options.emit);
  run.trace_width = options.width;
  if (!options.groups.empty())
    run.groups = launch::parse_groups(options.groups);
  else if (run.emit == launch::Emit::trace)
    run.groups = launch::parse_groups("first");
  run.limits.in_order = options.deterministic;
  run.machine_targets = machine_targets(options);
  run.check_options = options.check_options;
  run.goes_on = options.on_finding == "continue";
  if (run.goes_on && !options.findings_given) run.check_options.findings = findings_named;
  for (auto const& text : options.dumps) run.dumps.push_back(launch::parse_dump(text));
  for (auto const& text : options.checks) run.checks.push_back(launch::parse_check(text));
  return run;
}

void note(launch::Report const& report, Emulate const& options, cli::Streams& io) {
  for (auto const& text : report.notes) io.note(text);
  for (auto const& text : report.check_notes) io.note(text);
  if (!options.timing) return;
  auto const& t = report.times;
  io.note(fmt::format("compile {:.6f} s, decode {:.6f} s, buffers {:.6f} s, emulation {:.6f} s, {} warp instructions",
                      t.compile_s, t.decode_s, t.buffers_s, t.emulation_s, report.warp_instructions));
}

// The rows of a trace are written while the kernels run.
launch::Report run_traced(launch::Plan const& plan, launch::RunOptions choice, record::Labels const& labels,
                          cli::Streams& io) {
  auto rows = io.writer<record::Trace>(labels.names);
  launch::TraceOutput trace(rows, io.format(), labels.values);
  choice.trace = &trace;
  auto report = launch::run(plan, choice);
  trace.flush();
  rows.finish();
  return report;
}

Status run_application(Emulate const& options, launch::RunOptions const& choice, cli::Streams& io) {
  if (choice.emit != launch::Emit::kernel && choice.emit != launch::Emit::trace)
    throw Error(Status::usage, "--attach writes kernel rows, a trace or a graph only",
                "keep the launches with --keep DIR, and run those of interest with --emit");
  auto command = options.attach;
  command.graph = options.emit == "graph";
  command.application.insert(command.application.begin(), options.launch.line.path);
  return attach::run_attached(command, options.sweep, choice, !options.launch.no_cache, options.launch.registers, io);
}

}  // namespace

Status run(Emulate const& options, cli::Streams& io) {
  auto choice = run_options(options, io);
  if (options.attach.given && !options.only.empty())
    throw Error(Status::usage, "--only is for a kernel or a launch file",
                "keep the launches with --keep DIR, and run those of interest");
  std::optional<record::Selection> only;
  if (!options.only.empty()) {
    auto csv = io.csv(options.only);
    choice.only = &only.emplace(csv);
  }
  if (options.attach.given) return run_application(options, choice, io);
  if (options.emit == "graph")
    throw Error(Status::usage, "--emit graph is for applications", "miniemu --attach --emit graph -o FILE -- ./app");
  if (!options.attach.application.empty())
    throw Error(Status::usage, fmt::format("unexpected operand '{}'", options.attach.application.front()),
                "one kernel or launch file at a time; --attach runs an application");
  if (auto const sweep = launch::sweep_of(options.sweep, options.launch, io))
    return launch::run_sweep(
        options.sweep, *sweep, options.launch, choice, options.timing,
        [&](launch::Report const& report) { note(report, options, io); }, io);
  // What has ended is written where the run is interrupted; without any of it nothing is.
  if (choice.emit == launch::Emit::kernel) {
    choice.limits.stop = &stop_signal();
    choice.begins = stop_at_signals;
    choice.progress = [&io](std::size_t ended, std::size_t launches) {
      io.progress(fmt::format("{} of {} launches", ended, launches));
    };
  }
  auto const labels = launch::labels_of(options.sweep);
  if (!labels.names.empty() && choice.emit != launch::Emit::kernel && choice.emit != launch::Emit::trace)
    throw Error(Status::usage, "--label is for kernel rows and traces", "leave out --emit");
  auto plan = launch::plan_of(options.launch);
  auto const report =
      choice.emit == launch::Emit::trace ? run_traced(plan, choice, labels, io) : launch::run(plan, choice);
  launch::note_inputs(options.launch, plan, io);
  note(report, options, io);
  if (report.stopped && report.rows.empty()) end_by_signal(stop_signal());
  if (choice.emit == launch::Emit::kernel) {
    launch::KernelRows out(options.timing, labels, io);
    out.write(report);
    out.finish();
  }
  if (choice.emit == launch::Emit::lines) io.write(report.lines);
  if (choice.emit == launch::Emit::blocks) io.write(report.blocks);
  return report.finding ? io.complain(*report.finding) : Status::done;
}

}  // namespace kernelcast::emulate
