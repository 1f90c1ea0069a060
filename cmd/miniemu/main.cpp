// miniemu: emulate work-groups of a kernel and count what they do.
#include <memory>

#include "emulator/launch/options.hpp"
#include "records/block.hpp"
#include "records/command.hpp"
#include "records/kernel.hpp"
#include "records/line.hpp"
#include "records/trace.hpp"
#include "runtimes/emulate/emulate.hpp"

using namespace kernelcast;

namespace {

void declare_checks(CLI::App& app, emulate::Emulate& options) {
  auto& checks = options.check_options;
  app.add_flag("--check-uninit", checks.uninit, "a finding where memory is read that was never written");
  app.add_flag("--check-races", checks.races,
               "a finding where two work-items access the same memory, one of them writes, and nothing orders them; "
               "barriers of OpenCL C order what their flags name");
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
  auto const options = std::make_shared<emulate::Emulate>();
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
  tool.run([options](cli::Streams& io) { return emulate::run(*options, io); });
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
