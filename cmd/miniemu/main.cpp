// miniemu: emulate work-groups of a kernel and count what they do.
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/process/ending.hpp"
#include "emulator/launch/machine_code.hpp"
#include "emulator/launch/options.hpp"
#include "emulator/launch/sweep_runs.hpp"
#include "emulator/launch/trace_observer.hpp"
#include "records/cli/cli.hpp"
#include "records/command.hpp"
#include "records/selection.hpp"
#include "records/trace.hpp"
#include "runtimes/attach/attach_run.hpp"

using namespace kernelcast;

namespace {

struct Options {
  launch::Options launch;
  attach::AttachCommand attach;
  launch::SweepCommand sweep;
  std::string emit = "kernel", groups, on_finding = "stop";
  unsigned width = 32;
  std::vector<std::string> dumps, checks, machine_targets;
  std::string only;
  emu::CheckOptions check_options;
  bool deterministic = false, timing = false, findings_given = false;
};

constexpr unsigned findings_named = 100;  // unless --findings says, where they do not end the run

std::vector<std::string> machine_targets(Options const& options) {
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

launch::RunOptions run_options(Options const& options, cli::Streams& io) {
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

void note(launch::Report const& report, Options const& options, cli::Streams& io) {
  for (auto const& text : report.notes) io.note(text);
  for (auto const& text : report.equal_stores) io.note(text);
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

Status run_application(Options const& options, launch::RunOptions const& choice, cli::Streams& io) {
  if (choice.emit != launch::Emit::kernel && choice.emit != launch::Emit::trace)
    throw Error(Status::usage, "--attach writes kernel rows, a trace or a graph only",
                "keep the launches with --keep DIR, and run those of interest with --emit");
  auto command = options.attach;
  command.graph = options.emit == "graph";
  command.application.insert(command.application.begin(), options.launch.line.path);
  return attach::run_attached(command, choice, !options.launch.no_cache, options.launch.registers, io);
}

Status run(Options const& options, cli::Streams& io) {
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

void declare_checks(CLI::App& app, Options& options) {
  auto& checks = options.check_options;
  app.add_flag("--check-uninit", checks.uninit, "a finding where memory is read that was never written");
  app.add_flag("--check-races", checks.races,
               "a finding where two work-items access the same memory, one of them writes, and nothing orders them");
  app.add_flag("--check-division", checks.division, "a finding where an integer is divided by zero");
  app.add_flag("--lockstep-warps", checks.lockstep_warps,
               "--check-races takes the lanes of a warp as ordered from one instruction to the next, as on devices "
               "before Volta");
  app.add_option("--on-finding", options.on_finding,
                 "stop: a finding ends the run (default); continue: what is wrong is left out, a load gives 0, a store "
                 "does nothing, and in the end each place is named with how often that was")
      ->type_name("stop|continue")
      ->check(CLI::IsMember({"stop", "continue"}));
  app.add_option_function<unsigned>(
         "--findings",
         [&](unsigned most) {
           checks.findings = most;
           options.findings_given = true;
         },
         "how many distinct findings of the checks end the run (default 1); with --on-finding continue, how many "
         "findings are named (default 100)")
      ->type_name("N")
      ->check(CLI::Range(1u, 1000u));
}

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<Options>();
  auto& app = tool.app();
  launch::declare_launch(app, options->launch);
  app.add_option("ARGUMENT", options->attach.application, "with --attach: the application's arguments");
  attach::declare_attach(app, options->attach);
  app.add_option("--emit", options->emit,
                 "the record to write: kernel, one row per configuration; lines or blocks, the same counts by source "
                 "line or by basic block; trace, what each wavefront executes; with --attach also graph, the "
                 "application's kernels and copies and what they touch, for partsim")
      ->type_name("kernel|trace|lines|blocks|graph")
      ->check(CLI::IsMember({"kernel", "trace", "lines", "blocks", "graph"}))
      ->capture_default_str();
  app.add_option("--only", options->only,
                 "report only kernels and cases that a row of this table names (columns kernel, case, device), as rank "
                 "--undecided writes it; launches after the last of them do not run")
      ->type_name("FILE");
  app.add_option("--width", options->width, "lanes of a wavefront in a trace: 32 or 64")
      ->type_name("32|64")
      ->check(CLI::IsMember({32, 64}))
      ->capture_default_str();
  app.add_option("--groups", options->groups,
                 "groups of each launch to emulate: spread, as many as it takes, from all over the grid (default); "
                 "first (default of a trace); all; so many, at even distances; or resident:N, the first N of the "
                 "grid, neighbours")
      ->type_name("GROUPS");
  app.add_flag(
      "--deterministic", options->deterministic,
      "run work-groups strictly one after the other, on one thread: what groups that race with each other leave "
      "in memory is the same each time, too");
  tool.list("--dump", options->dumps,
            "write buffer N (a number from 0, or its name in the launch file or kernel) to a file after the run",
            "N=FILE");
  tool.list("--check", options->checks,
            "compare buffer N after the run with a file; =FILE:TOLERANCE allows differences up to tolerance * max(1, "
            "|expected|), others are a finding",
            "N=FILE");
  declare_checks(app, *options);
  launch::declare_limits(app, options->launch);
  launch::declare_compiler(app, options->launch);
  launch::declare_registers(app, options->launch.registers);
  tool.list(
      "--machine-code", options->machine_targets,
      "count the slots of pipes in the machine code for this target: of NVIDIA's devices, such as sm_86, ptxas makes "
      "it of the PTX, with nvdisasm's help; of AMD's, such as gfx90a, clang of the source, or it is read from FILE, "
      "which another compiler made of the same source; one row for "
      "each target; ptx: the row by rules besides, for devices of other targets",
      "TARGET[=FILE]");
  app.add_flag("--timing", options->timing, "report on stderr where the time went, and add a column emulation_s");
  launch::declare_sweep(tool, options->sweep);
  tool.run([options](cli::Streams& io) { return run(*options, io); });
}

}  // namespace

int main(int argc, char** argv) {
  cli::About const about{
      .name = "miniemu",
      .summary = "emulate work-groups of a kernel and count what they do",
      .description =
          "Compiles a kernel to PTX, runs some work-groups of each launch (or one, or all) on an emulator and writes "
          "kernel rows: what the launch executes and moves, independent of any device. No GPU is needed. Memory is "
          "checked: an access outside its buffer is a finding.",
      .operands = cli::Operands::none,
      .input = {},
      .output = {&record::Kernel::schema(), &record::Trace::schema(), &record::Line::schema(), &record::Block::schema(),
                 &record::Command::schema()},
      .statuses = {{Status::finding,
                    "a finding: an access outside a buffer, a deadlock, a buffer that differs in --check"},
                   {Status::unavailable, "a compiler, or what --attach puts into an application, is not installed"},
                   {Status::limit, "--max-steps, --timeout or --max-memory was reached"}},
      .see_also = {"perfcast(1)", "rank(1)"},
      .examples = {
          {"miniemu mmul.cl -k mmul -g 1024,1024 -l 16,16 -a buf:f32:1048576:random "
           "-a buf:f32:1048576:random -a buf:f32:1048576:zero -a i32:1024",
           "count what a launch does"},
          {"miniemu mmul.toml --groups all", "emulate the whole grid of every launch in the file"},
          {"miniemu mmul.toml --emit lines --format table", "see which lines cost most, and why"},
          {"miniemu --attach -o kernels.csv -- ./app input.dat", "the kernels of a running application"},
          {"miniemu --attach --commands c.csv -o k.csv -- ./app; perfcast k.csv | rank --total --commands c.csv",
           "which device runs an application fastest, where its streams and copies overlap"}}};
  return cli::tool_main(argc, argv, about, declare);
}
