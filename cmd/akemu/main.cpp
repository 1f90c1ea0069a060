// akemu: how long a kernel takes on a device by emulating one of its compute units, instruction by instruction.
#include <memory>

#include "models/ake/rows.hpp"
#include "records/cli/values.hpp"
#include "records/emulation.hpp"
#include "records/kernel.hpp"
#include "records/latency_gap.hpp"
#include "records/trace.hpp"

using namespace kernelcast;

namespace {

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<model::ake::EmulateRows>();
  auto& app = tool.app();
  cli::database_option(app, options->devdb);
  tool.list("--device", options->devices,
            "only these devices, by id, marketing name or alias; when not given, every GPU whose latencies are known",
            "NAME");
  app.add_option("--only", options->only,
                 "only kernels, cases and devices that a row of this table names (columns kernel, case, device), as "
                 "rank --undecided writes it")
      ->type_name("FILE");
  app.add_option("--scheduler", options->scheduler,
                 "of NVIDIA's devices: gto (default: greedy, then oldest), rr (in turn) or two-level")
      ->type_name("NAME")
      ->check(CLI::IsMember({"gto", "rr", "two-level"}));
  app.add_option("--active-warps", options->active_warps, "active wavefronts of a scheduler with two-level (default 8)")
      ->type_name("N")
      ->check(CLI::Range(1, 64));
  auto* const rates = app.add_option("--hit-rates", options->hit_rates,
                                     "hit rates of the first-level and second-level cache, 0 to 1, instead of "
                                     "simulated caches")
                          ->type_name("L1,L2")
                          ->delimiter(',')
                          ->expected(1, 2)
                          ->allow_extra_args(false)
                          ->check(cli::number_from(0, 1));
  auto* const none =
      app.add_flag("--no-cache", options->no_cache, "every access goes to device memory")->excludes(rates);
  app.add_flag("--warm", options->warm,
               "start each launch with what an earlier run of it leaves in the second-level cache, as repeated "
               "measurements do")
      ->excludes(rates)
      ->excludes(none);
  app.add_option("--neighbours", options->neighbours,
                 "with simulated caches, use at most this many times the resident groups of the trace (default 4)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  app.add_option("--order", options->order, "instruction orders to emulate: both (default), program or list")
      ->type_name("ORDER")
      ->check(CLI::IsMember({"both", "program", "list"}));
  app.add_option("--sass", options->sass, "also the order of this listing of nvdisasm, for the kernels that it has")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_option("--slots", options->slots,
                 "kernel rows of miniemu --machine-code: on AMD's devices, as many instructions of each kind as the "
                 "row of the device's own target has")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_flag("--dual-issue", options->dual_issue,
               "let a scheduler issue a second, independent instruction of the same wavefront to another unit");
  app.add_flag("--replace", options->replace, "a group starts when another ends, instead of waves of groups");
  app.add_option("--group-launch-cycles", options->group_launch_cycles,
                 "with --replace, cycles from a group's end to its successor's start (default 0)")
      ->type_name("N")
      ->check(cli::number_from(0, 1e9));
  app.add_option("--launch-cost", options->launch_cost,
                 "what each launch costs besides: 0, device (what the database has measured from its submission to "
                 "its start) or so many seconds; unless given what hosts have seen of the device's launches, or 5e-6; "
                 "rtx3080=2e-6 for one device, joined by commas")
      ->type_name("COST");
  app.add_flag("--strict", options->strict, "no projection where latgap.csv lacks a figure, instead of its fallback");
  app.add_option("--timeline", options->timeline, "write the wavefronts of the emulation as a Chrome trace")
      ->type_name("FILE");
  app.add_option("--calibrate", options->calibrate,
                 "write latgap rows of the devices in this measurement table, and read no trace")
      ->type_name("FILE");
  tool.run([options](cli::Streams& io) {
    options->calibrate.empty() ? model::ake::emulate_rows(*options, io) : model::ake::calibrate_rows(*options, io);
  });
}

}  // namespace

int main(int argc, char** argv) {
  cli::About const about{
      .name = "akemu",
      .summary = "emulate a compute unit by latencies and gaps",
      .description =
          "Reads what the wavefronts of a kernel execute, as miniemu --emit trace writes it, and emulates the compute "
          "unit of each device that runs them: every unit has a latency and a gap, wavefronts issue in order, the "
          "scheduler is greedy then oldest, or, on AMD's devices, issues one instruction of each kind a turn. Writes "
          "the time, what limits it, how busy each unit is and what the "
          "wavefronts wait for. Figures that the database lacks are assumed by its stated fallbacks, which the column "
          "reason names.",
      .input = {&record::Trace::schema(), &record::Kernel::schema()},
      .output = {&record::Emulation::schema(), &record::LatencyGap::schema()},
      .statuses = {{Status::unavailable, "no such device in the database, or a name that may be several"}},
      .see_also = {"miniemu(1)", "perfcast(1)", "rank(1)", "kernelcast-models(7)"},
      .examples = {
          {"miniemu mmul.cl -k mmul -g 1024,1024 -l 16,16 … --emit trace --groups resident:32 | akemu --device "
           "v100",
           "how long on a V100, and what it waits for"},
          {"akemu --device k20 --no-cache --timeline warps.json trace.csv", "see the warps in Perfetto"}}};
  return cli::tool_main(argc, argv, about, declare);
}
