#include "options.hpp"

#include <map>

using namespace kernelcast;

namespace {

void declare_launch(CLI::App& app, launch::CommandLine& line) {
  app.add_option("FILE", line.path,
                 "the kernel (.cl, .cu, .ptx) or a launch file (.toml); with --attach, the application")
      ->required();
  app.add_option("-k,--kernel", line.kernel,
                 "the kernel's name; with a launch file, report only this one of the kernels that run")
      ->type_name("NAME");
  app.add_option("-g,--global", line.global, "size of the launch in work-items, such as 1024,16")
      ->type_name("X[,Y[,Z]]");
  app.add_option("--grid", line.grid, "size of the launch in work-groups, instead of --global")->type_name("X[,Y[,Z]]");
  app.add_option("-l,--local", line.local, "size of a work-group in work-items")->type_name("X[,Y[,Z]]");
  app.add_option("-a,--arg", line.arguments,
                 "an argument, one option each, in order: i32:1024, f32:0.5, local:4096, buf:f32:1048576:random; "
                 "miniemu(1) lists all forms")
      ->type_name("ARG")
      ->allow_extra_args(false);
  app.add_option("--shared", line.dynamic_shared_bytes,
                 "bytes of dynamic shared memory (CUDA's third launch parameter)")
      ->type_name("BYTES")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--bind", line.bindings, "bind a texture, surface or sampler reference of the program")
      ->type_name("NAME=ARG")
      ->allow_extra_args(false);
}

void declare_compiler(CLI::App& app, Options& options) {
  app.add_option("-D", options.defines, "define a macro for the compiler")
      ->type_name("NAME[=VALUE]")
      ->allow_extra_args(false);
  app.add_option("-I", options.includes, "a folder in which the compiler looks for headers")
      ->type_name("DIR")
      ->allow_extra_args(false);
  app.add_option("--compiler-option", options.line.options, "any other option for the compiler, such as -cl-std=CL2.0")
      ->type_name("OPTION")
      ->allow_extra_args(false);
  app.add_flag("--no-cache", options.no_cache, "compile anew, and do not keep the result");
}

void declare_limits(CLI::App& app, Options& options) {
  auto const size = [&app](std::string const& name, auto& value, std::string const& text) {
    return app.add_option(name, value, text + "; KB, MB, GB are accepted")
        ->check([](std::string const& given) { return given.starts_with('-') ? "must not be negative" : ""; })
        ->transform(CLI::AsSizeValue(false))
        ->type_name("BYTES");
  };
  app.add_option("--max-steps", options.max_steps, "stop a launch after so many warp instructions; 0 = never")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  size("--max-memory", options.max_memory_bytes, "most bytes of emulated global memory");
  size("--stack-bytes", options.stack_bytes, "stack of each work-item, for recursion, function pointers and alloca")
      ->default_str("64KB");
  size("--heap-bytes", options.heap_bytes, "what malloc() in kernels may give at a time, at most 1 GB")
      ->default_str("8MB");
  app.add_option("--timeout", options.timeout_s, "stop emulation after so many seconds; 0 = never")
      ->type_name("SECONDS")
      ->check(CLI::NonNegativeNumber);
}

}  // namespace

void declare_options(CLI::App& app, Options& options) {
  declare_launch(app, options.line);
  app.add_option("ARGUMENT", options.application, "with --attach: the application's arguments");
  app.add_flag(
      "--attach", options.attach,
      "run an application that is linked with the shared CUDA runtime, and count every kernel that it "
      "launches; -- goes before it; its own output and exit status are unchanged, rows go to the file of -o when "
      "it has ended");
  std::vector<std::string> const records{"counts", "groups", "features", "blocks", "lines", "overhead", "ptx"};
  app.add_option(
         "--emit", options.emit,
         "counts: one row for each launch and opcode; groups: nvprof's metrics of each launch; features: one "
         "row for each launch configuration, for mangrove; blocks, lines: counts by basic block or source "
         "line, one set for each launch configuration; overhead: issue slots with counters over those without; ptx: "
         "the module with counters in it")
      ->type_name("counts|groups|features|blocks|lines|overhead|ptx")
      ->check(CLI::IsMember(records))
      ->capture_default_str();
  app.add_option("--backend", options.backend,
                 "emulator: its own block counters; instrumented: counters in the kernel's code, which runs on the "
                 "emulator; cuda: the same on a CUDA device")
      ->type_name("emulator|instrumented|cuda")
      ->check(CLI::IsMember({"emulator", "instrumented", "cuda"}))
      ->capture_default_str();
  app.add_option("--device", options.device, "number of the CUDA device")
      ->type_name("N")
      ->check(CLI::Range(0, 255))
      ->capture_default_str();
  app.add_option("--placement", options.placement,
                 "counters in the code: as few as tell all work-items' counts, or one in every block, which counts "
                 "wavefronts too")
      ->type_name("minimal|every-block")
      ->check(CLI::IsMember({"minimal", "every-block"}))
      ->capture_default_str();
  app.add_option("--sample", options.sample,
                 "count on one wavefront or one work-group of each launch only and multiply up; wrong where control "
                 "flow depends on data or on the place in the grid")
      ->type_name("one-warp|one-cta|all")
      ->check(CLI::IsMember({"one-warp", "one-cta", "all"}));
  declare_compiler(app, options);
  declare_limits(app, options);
}

launch::Plan plan_of(Options const& options) {
  auto line = options.line;
  for (auto const& define : options.defines) line.options.push_back("-D" + define);
  for (auto const& include : options.includes) line.options.push_back("-I" + include);
  auto plan = launch::plan_of(line);
  plan.request.cache = !options.no_cache;
  plan.request.registers = false;
  return plan;
}

launch::RunOptions run_options(Options const& options, cli::Streams& io) {
  launch::RunOptions run;
  if (options.emit == "lines") run.emit = launch::Emit::lines;
  if (options.emit == "blocks") run.emit = launch::Emit::blocks;
  if (launch::is_launch_file(options.line.path)) run.only_kernel = options.line.kernel;
  run.seed = io.seed();
  run.threads = io.threads();
  run.limits = {options.max_steps, options.max_memory_bytes, options.timeout_s};
  run.max_memory_bytes = options.max_memory_bytes;
  run.stack_bytes = options.stack_bytes;
  run.heap_bytes = options.heap_bytes;
  run.print = [&io](std::string_view text) { io.words(text); };
  return run;
}

flux::Sample sample_of(Options const& options, cli::Streams const& io) {
  static std::map<std::string, flux::Sample, std::less<>> const samples{{"", flux::Sample::all},
                                                                        {"all", flux::Sample::all},
                                                                        {"one-cta", flux::Sample::one_group},
                                                                        {"one-warp", flux::Sample::one_warp}};
  return samples.at(options.sample.empty() ? io.threads_word() : options.sample);
}
