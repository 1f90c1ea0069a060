#include "emulator/launch/options.hpp"

#include <algorithm>
#include <filesystem>

#include "records/cli/values.hpp"

namespace kernelcast::launch {

namespace {

// An unsigned number read from "-3" would be 2^64 - 3.
CLI::Validator not_negative() {
  return {[](std::string& text) { return text.starts_with('-') ? "must not be negative" : std::string{}; }, ""};
}

template <class Bytes>
CLI::Option* add_size(CLI::App& app, std::string const& name, Bytes& value, std::string const& text) {
  return app.add_option(name, value, text + "; KB, MB, GB are accepted")
      ->check(not_negative())
      ->transform(CLI::AsSizeValue(false))
      ->type_name("BYTES");
}

// A name that is none is said before anything that it lacks.
void refuse_missing_file(std::string const& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::exists(path, error) || error) return;
  auto const folder = fs::path(path).parent_path();
  std::vector<std::string> names;
  for (auto const& entry : fs::directory_iterator(folder.empty() ? fs::path(".") : folder, error))
    if (auto const extension = entry.path().extension();
        frontend::is_opencl(extension.string()) || extension == ".cu" || extension == ".ptx" || extension == ".toml")
      names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  auto const name = fs::path(path).filename().string();
  auto const near = nearest(name, names);
  throw Error(Status::io, Where{path}, "no such file",
              near.empty() ? "the kernel (.cl, .spv, .cu, .ptx) or a launch file (.toml)" : did_you_mean(name, names));
}

}  // namespace

void declare_launch(CLI::App& app, Options& options) {
  auto& line = options.line;
  app.add_option("FILE", line.path,
                 "the kernel (.cl, .spv, .cu, .ptx) or a launch file (.toml); with --attach, the application")
      ->required();
  app.add_option("-k,--kernel", line.kernel,
                 "the kernel's name; with a launch file, report only this one of the kernels that run")
      ->type_name("NAME");
  app.add_option("--set", line.sets,
                 "of a launch file: set a parameter, or choose a named set of values; repeated, the later ones win")
      ->type_name("NAME=VALUE|SET")
      ->allow_extra_args(false);
  app.add_option("-g,--global", line.global, "size of the launch in work-items, such as 1024,16")
      ->type_name("X[,Y[,Z]]");
  app.add_option("--grid", line.grid, "size of the launch in work-groups, instead of --global")->type_name("X[,Y[,Z]]");
  app.add_option("-l,--local", line.local, "size of a work-group in work-items")->type_name("X[,Y[,Z]]");
  app.add_option("-a,--arg", line.arguments,
                 "an argument, one option each, in order: i32:1024, f32:0.5, local:4096, buf:f32:1048576:random, "
                 "image2d:rgba8:640x480:random, sampler:linear,clamp or null")
      ->type_name("ARG")
      ->allow_extra_args(false);
  app.add_option("--shared", line.dynamic_shared_bytes,
                 "bytes of dynamic shared memory (CUDA's third launch parameter)")
      ->type_name("BYTES")
      ->check(not_negative());
  app.add_option(
         "--bind", line.bindings,
         "bind a texture, surface or sampler reference of the program to an image or a sampler, which is written "
         "as for -a")
      ->type_name("NAME=ARG")
      ->allow_extra_args(false);
}

void declare_limits(CLI::App& app, Options& options) {
  app.add_option("--max-steps", options.max_steps, "stop a launch after so many warp instructions; 0 = never")
      ->type_name("N")
      ->check(not_negative());
  add_size(app, "--max-memory", options.max_memory_bytes,
           "most bytes of emulated global memory, with the heap of malloc()");
  add_size(app, "--stack-bytes", options.stack_bytes,
           "stack of each work-item, for recursion, function pointers and alloca")
      ->default_str("64KB");
  add_size(app, "--heap-bytes", options.heap_bytes, "what malloc() in kernels may give at a time, at most 1 GB")
      ->default_str("8MB");
  app.add_option("--timeout", options.timeout_s, "stop emulation after so many seconds; 0 = never")
      ->type_name("SECONDS")
      ->check(cli::seconds());
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

void declare_registers(CLI::App& app, std::vector<std::string>& targets) {
  auto* const none = app.add_flag_callback(
      "--no-registers", [&targets] { targets.clear(); },
      "do not run other compilers for registers: a first compilation is faster, occupancies are less exact");
  app.add_option_function<std::vector<std::string>>(
         "--registers",
         [&targets](std::vector<std::string> const& given) {
           targets.clear();
           for (auto const& target : given) targets.push_back(frontend::register_target(target));
         },
         fmt::format("run only the compilers that tell the registers of these targets: {} (default: all)",
                     fmt::join(frontend::register_targets(), ", ")))
      ->type_name("TARGETS")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->excludes(none);
}

Plan plan_of(Options const& options) {
  refuse_missing_file(options.line.path);
  auto line = options.line;
  for (auto const& define : options.defines) line.options.push_back("-D" + define);
  for (auto const& include : options.includes) line.options.push_back("-I" + include);
  auto plan = plan_of(line);
  plan.request.cache = !options.no_cache;
  plan.request.registers = options.registers;
  return plan;
}

std::optional<Sweep> sweep_of(Options const& options, Points const* table) {
  auto const& line = options.line;
  refuse_missing_file(line.path);
  if (is_launch_file(line.path)) return read_sweep(line.path, line.sets, table);
  if (table)
    throw Error(Status::usage, "a table of points is for a launch file", "its columns are parameters of the file");
  return std::nullopt;
}

RunOptions run_options(Options const& options, cli::Streams& io) {
  RunOptions run;
  if (is_launch_file(options.line.path)) run.only_kernel = options.line.kernel;
  run.seed = io.seed();
  run.threads = io.threads();
  run.limits.max_steps = options.max_steps;
  run.limits.max_memory_bytes = options.max_memory_bytes;
  run.limits.timeout_s = options.timeout_s;
  run.max_memory_bytes = options.max_memory_bytes;
  run.stack_bytes = options.stack_bytes;
  run.heap_bytes = options.heap_bytes;
  run.print = [&io](std::string_view text) { io.print_message(text); };
  return run;
}

void note_inputs(Options const& options, Plan const& plan, cli::Streams& io) {
  io.note_input_file(options.line.path);
  if (plan.request.path != options.line.path) io.note_input_file(plan.request.path);  // of a launch file
}

}  // namespace kernelcast::launch
