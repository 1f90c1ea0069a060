// flux-count: how often each PTX instruction of a kernel is executed.
#include <memory>

#include <fmt/format.h>

#include "attach.hpp"
#include "measure/flux/instrument.hpp"
#include "options.hpp"
#include "records/feature.hpp"

using namespace kernelcast;

namespace {

template <class R>
flux::Receiver collect(std::vector<R>& rows, std::vector<R> (*rows_of)(flux::CountedRun const&)) {
  return [&rows, rows_of](flux::CountedRun const& run) {
    for (auto& row : rows_of(run)) rows.push_back(std::move(row));
  };
}

void note(launch::Report const& report, cli::Streams& io) {
  for (auto const& text : report.notes) io.note(text);
}

// The records that the emulator's own counters fill.
void run_detailed(Options const& options, launch::Plan plan, cli::Streams& io) {
  auto choice = run_options(options, io);
  if (options.backend != "emulator")
    throw Error(Status::usage, "blocks and lines are counted by the emulator", "leave out --backend");
  if (sample_of(options, io) == flux::Sample::one_warp)
    throw Error(Status::usage, "blocks and lines are not counted on one wavefront", "--sample one-cta, or all");
  choice.groups = launch::parse_groups(sample_of(options, io) == flux::Sample::all ? "all" : "first");
  auto const report = launch::run(std::move(plan), choice);
  note(report, io);
  if (options.emit == "lines") return io.write(report.lines);
  io.write(report.blocks);
}

flux::PlanOptions counters(Options const& options) {
  flux::PlanOptions out;
  if (options.placement == "every-block") out.scheme = flux::Scheme::every_block, out.warps = true;
  return out;
}

launch::Report run_on(Options const& options, launch::Plan plan, launch::RunOptions const& choice, flux::Sample sample,
                      flux::Receiver const& receive) {
  if (options.backend == "emulator") return flux::count(std::move(plan), choice, sample, receive);
  if (sample != flux::Sample::all)
    throw Error(Status::usage, "counters in the kernel's code count all work-items",
                "--sample needs --backend emulator");
  if (options.backend == "cuda") return flux::count_on_cuda(plan, choice, options.device, counters(options), receive);
  return flux::count_instrumented(std::move(plan), choice, counters(options), receive);
}

std::vector<record::CountOverhead> overhead_of(Options const& options, launch::Plan const& plan, cli::Streams& io) {
  auto const choice = run_options(options, io);
  if (options.backend == "cuda") return flux::overhead_on_cuda(plan, choice, options.device);
  return flux::overhead(plan, choice);
}

// The module with counters in it, as a device's driver would be given it.
void write_ptx(Options const& options, launch::Plan const& plan, cli::Streams& io) {
  auto const compiled = frontend::compile(plan.request);
  io.output() << flux::instrument(*compiled.module, counters(options)).ptx;
}

void run_plan(Options const& options, cli::Streams& io) {
  auto plan = plan_of(options);
  launch::note_inputs(options.launch, plan, io);
  if (options.emit == "blocks" || options.emit == "lines") return run_detailed(options, std::move(plan), io);

  if (options.emit == "overhead") return io.write(overhead_of(options, plan, io));
  if (options.emit == "ptx") return write_ptx(options, plan, io);

  std::vector<record::Count> counts;
  std::vector<record::CountGroup> groups;
  flux::FeatureRows features(*record::value_named<record::FeatureDefinition>(options.definition));
  flux::Receiver const receive = options.emit == "counts"   ? collect(counts, flux::count_rows)
                                 : options.emit == "groups" ? collect(groups, flux::group_rows)
                                                            : [&](flux::CountedRun const& run) { features.add(run); };
  auto const choice = run_options(options, io);
  note(run_on(options, std::move(plan), choice, sample_of(options, io), receive), io);
  if (options.emit == "counts") return io.write(counts);
  if (options.emit == "groups") return io.write(groups);
  io.write(features.rows());
}

Status run(Options const& options, cli::Streams& io) {
  if (options.definition != "suite" && (options.emit != "features" || options.attach))
    throw Error(Status::usage, "--definition is for the features of kernels and launch files",
                "flux-count fft.toml --emit features --definition authors");
  if (options.attach) return run_application(options, io);
  if (!options.application.empty())
    throw Error(Status::usage, fmt::format("unexpected operand '{}'", options.application.front()),
                "one kernel or launch file at a time; --attach runs an application");
  run_plan(options, io);
  return Status::done;
}

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<Options>();
  declare_options(tool.app(), *options);
  tool.run([options](cli::Streams& io) { return run(*options, io); });
}

}  // namespace

int main(int argc, char** argv) {
  cli::About const about{
      .name = "flux-count",
      .summary = "count the PTX instructions that a kernel executes",
      .description =
          "Runs every launch of a kernel or a launch file on the emulator and counts how many work-items and "
          "wavefronts "
          "execute each PTX opcode, exactly; writes the counts, the metrics of a hardware profiler made of them, or "
          "features for mangrove. No GPU is needed. With one, the same counts come from minimal counters in the "
          "kernels' "
          "code, also in a running application (--attach).",
      .operands = cli::Operands::none,
      .input = {},
      .output = {&record::Count::schema(), &record::CountGroup::schema(), &record::Feature::schema(),
                 &record::CountOverhead::schema(), &record::Block::schema(), &record::Line::schema()},
      .statuses = {{Status::finding, "an access outside a buffer, a deadlock"},
                   {Status::unavailable, "a compiler is not installed, or there is no CUDA device"},
                   {Status::limit, "--max-steps, --timeout or --max-memory was reached"}},
      .see_also = {"miniemu(1)"},
      .examples = {{"flux-count saxpy.cl -k saxpy -g 1048576 -l 256 -a buf:f32:1048576:random "
                    "-a buf:f32:1048576:random -a f32:2 -a i32:1048576",
                    "count what a launch executes, by opcode"},
                   {"flux-count fft.toml --emit groups --format table", "the same as nvprof's metrics"},
                   {"flux-count lu.toml --emit features > features.csv", "features for mangrove"},
                   {"flux-count --attach -o counts.csv -- ./app input.dat",
                    "count the kernels of a CUDA application as it runs"}},
      .threads_words = {{"one-warp", "one-cta", "all"}, "or which work-items are counted, as with --sample"}};
  return cli::tool_main(argc, argv, about, declare);
}
