#include "options.hpp"

#include <map>

using namespace kernelcast;

void declare_options(CLI::App& app, Options& options) {
  launch::declare_launch(app, options.launch);
  app.add_option("ARGUMENT", options.application, "with --attach: the application's arguments");
  app.add_flag(
      "--attach", options.attach,
      "run an application that is linked with the shared CUDA runtime, and count every kernel that it "
      "launches; -- goes before it; its own output and exit status are unchanged, rows go to the file of -o when "
      "it has ended");
  std::vector<std::string> const records{"counts", "groups", "features", "blocks", "lines", "overhead", "ptx"};
  app.add_option("--emit", options.emit,
                 "counts: one row for each launch and opcode; groups: nvprof's metrics of each launch; features: one "
                 "row for each launch configuration, for mangrove; blocks, lines: counts by basic block or source "
                 "line, one set for each launch configuration; overhead: issue slots with counters over those without, "
                 "with --backend cuda kernel time; ptx: "
                 "the module with counters in it, which needs no launch")
      ->type_name("counts|groups|features|blocks|lines|overhead|ptx")
      ->check(CLI::IsMember(records))
      ->capture_default_str();
  app.add_option("--definition", options.definition,
                 "features: what counts as what: suite, by what an instruction does; or authors, as the authors of "
                 "GPU Mangrove group opcodes")
      ->type_name("suite|authors")
      ->check(CLI::IsMember({"suite", "authors"}))
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
  launch::declare_compiler(app, options.launch);
  launch::declare_limits(app, options.launch);
}

launch::Plan plan_of(Options const& options) {
  auto launched = options.launch;
  auto& line = launched.line;
  if (options.emit == "ptx" && !launch::is_launch_file(line.path) && line.global.empty() && line.grid.empty())
    line.global = line.local = "1";  // nothing runs
  auto plan = launch::plan_of(launched);
  plan.request.registers.clear();
  return plan;
}

launch::RunOptions run_options(Options const& options, cli::Streams& io) {
  auto run = launch::run_options(options.launch, io);
  if (options.emit == "lines") run.emit = launch::Emit::lines;
  if (options.emit == "blocks") run.emit = launch::Emit::blocks;
  return run;
}

flux::Sample sample_of(Options const& options, cli::Streams const& io) {
  static std::map<std::string, flux::Sample, std::less<>> const samples{{"", flux::Sample::all},
                                                                        {"all", flux::Sample::all},
                                                                        {"one-cta", flux::Sample::one_group},
                                                                        {"one-warp", flux::Sample::one_warp}};
  return samples.at(options.sample.empty() ? io.threads_word() : options.sample);
}
