// devprobe: micro-benchmark a device, and keep the device database true.
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "measure/probe/probe.hpp"
#include "measure/probe/rows.hpp"
#include "records/device/device.hpp"
#include "records/measurement.hpp"

using namespace kernelcast;

namespace {

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<probe::ProbeRows>();
  auto& app = tool.app();
  app.add_flag("--list", options->list, "list the devices of this machine, and end");
  app.add_flag("--man-metrics", options->man_metrics, "")->group("");
  app.add_option("--device", options->device,
                 "the device: cpu, opencl:N, cuda:N, its slug or part of its name (default: the first GPU, else the "
                 "CPU)")
      ->type_name("SPEC");
  std::vector<std::string_view> names;
  for (auto const& bench : probe::benches()) names.push_back(bench.name);
  tool.list("--bench", options->benches, fmt::format("only these: {}", fmt::join(names, ", ")), "NAME");
  auto* const quick = app.add_flag("--quick", options->quick, "fewer points and samples: at most 20 seconds for a CPU");
  app.add_flag("--thorough", options->thorough, "more points and samples: at most 5 minutes for a CPU")
      ->excludes(quick);
  auto* const resume = app.add_option("--resume", options->resume,
                                      "keep the rows of this file and measure only what it lacks; it may be the file "
                                      "of --output")
                           ->type_name("FILE");
  auto* const summary =
      app.add_flag("--summary", options->summary, "write one row of the device database instead of the measurements");
  app.add_option("--check", options->check,
                 "compare with the device's row of this database; exit status 1 where they differ")
      ->type_name("DIR")
      ->excludes(summary);
  app.add_option("--from", options->from, "with --summary or --check: take the measurements from this file")
      ->type_name("FILE")
      ->excludes(resume);
  app.add_option("--name", options->name, "slug for the device, instead of the database's or one made from its name")
      ->type_name("SLUG");
  cli::database_option(app, options->devdb, "the device database that knows the slugs (default: the installed one)");
  tool.run([options](cli::Streams& io) { return probe::probe_rows(*options, io); });
}

}  // namespace

int main(int argc, char** argv) {
  cli::About const about{
      .name = "devprobe",
      .summary = "micro-benchmark a device",
      .description =
          "Measures a device through OpenCL, CUDA or as the CPU itself: arithmetic peaks, bandwidth over occupancy, "
          "word size and access, latencies and caches, atomics, launches, copies and barriers. Each row is written "
          "as soon as it is measured. An implausible value is kept, with status doubtful and the reason.",
      .operands = cli::Operands::none,
      .input = {&record::Measurement::schema()},
      .output = {&record::Measurement::schema(), &record::ProbedDevice::schema(), &record::Device::schema(),
                 &record::DeviceDifference::schema()},
      .statuses = {{Status::finding, "with --check: the device differs from its row of the database"},
                   {Status::unavailable, "no such device, no driver for it, or it was lost while measuring"}},
      .see_also = {"perfcast(1)", "figure(1)", "akemu(1)"},
      .examples = {{"devprobe --list --format table", "what there is to measure"},
                   {"devprobe --quick -o curves.csv", "the first GPU, or the CPU, in twenty seconds"},
                   {"devprobe --device opencl:0 --bench global,flops", "two benchmarks of one device"},
                   {"devprobe --summary --from curves.csv >> devdb/devices.csv", "a row for the device database"}}};
  return cli::tool_main(argc, argv, about, declare);
}
