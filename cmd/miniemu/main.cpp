// miniemu: emulate work-groups of a kernel and count what they do.
#include <map>
#include <memory>

#include <fmt/format.h>

#include "attach.hpp"
#include "cli/cli.hpp"
#include "launch/launch.hpp"
#include "launch/trace_observer.hpp"
#include "record/trace.hpp"

using namespace kernelcast;

namespace {

struct Options {
  launch::CommandLine line;
  miniemu::AttachCommand attach;
  std::string emit = "kernel", groups = "first";
  unsigned width = 32;
  std::vector<std::string> defines, includes, dumps, checks;
  std::uint64_t max_steps = 0, max_memory_bytes = std::uint64_t{16} << 30;
  std::uint64_t heap_bytes = std::uint64_t{8} << 20;
  std::uint32_t stack_bytes = 64 * 1024;
  double timeout_s = 0;
  emu::CheckOptions check_options;
  bool deterministic = false, timing = false, no_cache = false, no_registers = false;
};

std::vector<std::string> compiler_options(Options const& options) {
  std::vector<std::string> result = options.line.options;
  for (auto const& define : options.defines) result.push_back("-D" + define);
  for (auto const& include : options.includes) result.push_back("-I" + include);
  return result;
}

launch::Plan make_plan(Options const& options) {
  auto line = options.line;
  line.options = compiler_options(options);
  auto plan = launch::plan_of(line);
  plan.request.cache = !options.no_cache;
  plan.request.registers = !options.no_registers;
  return plan;
}

launch::RunOptions run_options(Options const& options, cli::Streams& io) {
  launch::RunOptions run;
  static std::map<std::string, launch::Emit> const records{{"kernel", launch::Emit::kernel},
                                                           {"trace", launch::Emit::trace},
                                                           {"lines", launch::Emit::lines},
                                                           {"blocks", launch::Emit::blocks}};
  run.emit = records.at(options.emit);
  run.trace_width = options.width;
  run.groups = launch::parse_groups(options.groups);
  if (launch::is_launch_file(options.line.path)) run.only_kernel = options.line.kernel;
  run.seed = io.seed();
  run.threads = io.threads();
  run.limits = {options.max_steps, options.max_memory_bytes, options.timeout_s, options.deterministic};
  run.max_memory_bytes = options.max_memory_bytes;
  run.stack_bytes = options.stack_bytes;
  run.heap_bytes = options.heap_bytes;
  run.print = [&io](std::string_view text) { io.words(text); };
  run.check_options = options.check_options;
  for (auto const& text : options.dumps) run.dumps.push_back(launch::parse_dump(text));
  for (auto const& text : options.checks) run.checks.push_back(launch::parse_check(text));
  return run;
}

void note(launch::Report const& report, Options const& options, cli::Streams& io) {
  for (auto const& text : report.notes) io.note(text);
  if (!options.timing) return;
  auto const& t = report.times;
  io.note(fmt::format("compile {:.6f} s, decode {:.6f} s, buffers {:.6f} s, emulation {:.6f} s, {} warp instructions",
                      t.compile_s, t.decode_s, t.buffers_s, t.emulation_s, report.warp_instructions));
}

void write_kernels(launch::Report const& report, bool timing, cli::Streams& io) {
  auto out = io.writer<record::Kernel>(timing ? std::vector<std::string>{"emulation_s"} : std::vector<std::string>{});
  for (std::size_t i = 0; i < report.rows.size(); ++i)
    out.write(report.rows[i],
              timing ? std::vector{record::number_text(report.emulation_s[i])} : std::vector<std::string>{});
  out.finish();
}

template <class R>
void write_all(std::vector<R> const& rows, cli::Streams& io) {
  auto out = io.writer<R>();
  for (auto const& row : rows) out.write(row);
  out.finish();
}

// The rows of a trace are written while the kernels run.
launch::Report run_traced(launch::Plan const& plan, launch::RunOptions choice, cli::Streams& io) {
  auto rows = io.writer<record::Trace>();
  launch::TraceOutput trace(rows, io.format());
  choice.trace = &trace;
  auto report = launch::run(plan, choice);
  trace.flush();
  rows.finish();
  return report;
}

Status run_application(Options const& options, launch::RunOptions const& choice, cli::Streams& io) {
  if (choice.emit != launch::Emit::kernel)
    throw Error(Status::usage, "--attach writes kernel rows only",
                "keep the launches with --keep DIR, and run those of interest with --emit");
  auto command = options.attach;
  command.application.insert(command.application.begin(), options.line.path);
  return miniemu::run_attached(command, choice, !options.no_cache, !options.no_registers, io);
}

Status run(Options const& options, cli::Streams& io) {
  auto const choice = run_options(options, io);
  if (options.attach.given) return run_application(options, choice, io);
  if (!options.attach.application.empty())
    throw Error(Status::usage, fmt::format("unexpected operand '{}'", options.attach.application.front()),
                "one kernel or launch file at a time; --attach runs an application");
  auto const plan = make_plan(options);
  auto const report = choice.emit == launch::Emit::trace ? run_traced(plan, choice, io) : launch::run(plan, choice);
  io.note_input_file(options.line.path);
  if (plan.request.path != options.line.path) io.note_input_file(plan.request.path);  // of a launch file
  note(report, options, io);
  if (choice.emit == launch::Emit::kernel) write_kernels(report, options.timing, io);
  if (choice.emit == launch::Emit::lines) write_all(report.lines, io);
  if (choice.emit == launch::Emit::blocks) write_all(report.blocks, io);
  return Status::done;
}

void declare_checks(CLI::App& app, emu::CheckOptions& checks) {
  app.add_flag("--check-uninit", checks.uninit, "a finding where memory is read that nobody has written");
  app.add_flag("--check-races", checks.races,
               "a finding where two work-items access the same memory, one of them writes, and nothing orders them");
  app.add_flag("--check-division", checks.division, "a finding where an integer is divided by zero");
  app.add_flag("--lockstep-warps", checks.lockstep_warps,
               "--check-races takes the lanes of a warp as ordered from one instruction to the next, as on devices "
               "before Volta");
  app.add_option("--findings", checks.findings, "how many distinct findings of the checks end the run")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(1u, 1000u));
}

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<Options>();
  auto& app = tool.app();
  auto& line = options->line;
  app.add_option("FILE", line.path,
                 "the kernel (.cl, .cu, .ptx) or a launch file (.toml); with --attach, the application")
      ->required();
  app.add_option("ARGUMENT", options->attach.application, "with --attach: the application's arguments");
  miniemu::declare_attach(app, options->attach);
  app.add_option("-k,--kernel", line.kernel,
                 "the kernel's name; with a launch file, report only this one of the kernels that run")
      ->type_name("NAME");
  app.add_option("-g,--global", line.global, "size of the launch in work-items, such as 1024,16")
      ->type_name("X[,Y[,Z]]");
  app.add_option("--grid", line.grid, "size of the launch in work-groups, instead of --global")->type_name("X[,Y[,Z]]");
  app.add_option("-l,--local", line.local, "size of a work-group in work-items")->type_name("X[,Y[,Z]]");
  app.add_option("-a,--arg", line.arguments,
                 "an argument, one option each, in order: i32:1024, f32:0.5, local:4096, buf:f32:1048576:random, "
                 "image2d:rgba8:640x480:random, sampler:linear,clamp or null")
      ->type_name("ARG")
      ->allow_extra_args(false);
  // An unsigned number read from "-3" would be 2^64 - 3.
  CLI::Validator const not_negative(
      [](std::string& text) { return text.starts_with('-') ? "must not be negative" : std::string{}; }, "");
  app.add_option("--shared", line.dynamic_shared_bytes,
                 "bytes of dynamic shared memory (CUDA's third launch parameter)")
      ->type_name("BYTES")
      ->check(not_negative);
  app.add_option("--emit", options->emit,
                 "the record to write: kernel, one row per configuration; lines or blocks, the same counts by source "
                 "line or by basic block; trace, what each wavefront executes")
      ->type_name("kernel|trace|lines|blocks")
      ->check(CLI::IsMember({"kernel", "trace", "lines", "blocks"}))
      ->capture_default_str();
  app.add_option("--width", options->width, "lanes of a wavefront in a trace: 32 or 64")
      ->type_name("32|64")
      ->check(CLI::IsMember({32, 64}))
      ->capture_default_str();
  app.add_option("--groups", options->groups,
                 "groups of each launch to emulate: first, all, so many, spread evenly over the grid, or resident:N, "
                 "the first N of the grid, neighbours")
      ->type_name("GROUPS")
      ->capture_default_str();
  app.add_option(
         "--bind", line.bindings,
         "bind a texture, surface or sampler reference of the program to an image or a sampler, which is written "
         "as for -a")
      ->type_name("NAME=ARG")
      ->allow_extra_args(false);
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
  declare_checks(app, options->check_options);
  app.add_option("--max-steps", options->max_steps, "stop a launch after so many warp instructions; 0 = never")
      ->type_name("N")
      ->check(not_negative);
  app.add_option("--max-memory", options->max_memory_bytes,
                 "most bytes of emulated global memory; KB, MB, GB are accepted")
      ->check(not_negative)
      ->transform(CLI::AsSizeValue(false))
      ->type_name("BYTES");
  app.add_option("--stack-bytes", options->stack_bytes,
                 "stack of each work-item, for recursion, function pointers and alloca; KB and MB are accepted")
      ->check(not_negative)
      ->transform(CLI::AsSizeValue(false))
      ->type_name("BYTES")
      ->default_str("64KB");
  app.add_option("--heap-bytes", options->heap_bytes,
                 "what malloc() in kernels may give at a time, at most 1 GB; KB and MB are accepted")
      ->check(not_negative)
      ->transform(CLI::AsSizeValue(false))
      ->type_name("BYTES")
      ->default_str("8MB");
  app.add_option("--timeout", options->timeout_s, "stop emulation after so many seconds; 0 = never")
      ->type_name("SECONDS")
      ->check(CLI::NonNegativeNumber);
  app.add_option("-D", options->defines, "define a macro for the compiler")
      ->type_name("NAME[=VALUE]")
      ->allow_extra_args(false);
  app.add_option("-I", options->includes, "a folder in which the compiler looks for headers")
      ->type_name("DIR")
      ->allow_extra_args(false);
  app.add_option("--compiler-option", line.options, "any other option for the compiler, such as -cl-std=CL2.0")
      ->type_name("OPTION")
      ->allow_extra_args(false);
  app.add_flag("--no-cache", options->no_cache, "compile anew, and do not keep the result");
  app.add_flag("--no-registers", options->no_registers,
               "do not ask other compilers for registers; the columns stay empty, a first compilation is faster");
  app.add_flag("--timing", options->timing, "report on stderr where the time went, and add a column emulation_s");
  tool.run([options](cli::Streams& io) { return run(*options, io); });
}

}  // namespace

int main(int argc, char** argv) {
  cli::About const about{
      .name = "miniemu",
      .summary = "emulate work-groups of a kernel and count what they do",
      .description =
          "Compiles a kernel to PTX, runs one work-group of each launch (or some, or all) on an emulator and writes "
          "kernel rows: what the launch executes and moves, independent of any device. No GPU is needed. Memory is "
          "checked: an access outside its buffer is a finding.",
      .operands = cli::Operands::none,
      .input = {},
      .output = {&record::Kernel::schema(), &record::Trace::schema(), &record::Line::schema(),
                 &record::Block::schema()},
      .statuses = {{Status::finding, "an access outside a buffer, a deadlock, a buffer that differs in --check"},
                   {Status::unavailable, "a compiler is not installed"},
                   {Status::limit, "--max-steps, --timeout or --max-memory was reached"}},
      .see_also = {"perfcast(1)", "rank(1)"},
      .examples = {{"miniemu mmul.cl -k mmul -g 1024,1024 -l 16,16 -a buf:f32:1048576:random "
                    "-a buf:f32:1048576:random -a buf:f32:1048576:zero -a i32:1024",
                    "count what one work-group does"},
                   {"miniemu mmul.toml --groups all", "emulate the whole grid of every launch in the file"},
                   {"miniemu mmul.toml --emit lines --format table", "see which lines cost most, and why"},
                   {"miniemu --attach -o kernels.csv -- ./app input.dat", "the kernels of a running application"}}};
  return cli::tool_main(argc, argv, about, declare);
}
