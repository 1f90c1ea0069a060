// devprobe: micro-benchmark a device, and keep the device database true.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/version/version.hpp"
#include "measure/probe/messages.hpp"
#include "measure/probe/probe.hpp"
#include "measure/probe/summary.hpp"
#include "records/cli/cli.hpp"
#include "records/device/device.hpp"
#include "records/device/measurements.hpp"
#include "records/measurement.hpp"

using namespace kernelcast;

namespace {

struct Options {
  std::string device, name, resume, from, check, devdb;
  std::vector<std::string> benches;
  bool list = false, man_metrics = false, quick = false, thorough = false, summary = false;
};

// A name for the device, the database's where it knows it.
std::string slug_of(probe::Facts const& facts, Options const& options) {
  if (!options.name.empty()) return options.name;
  try {
    return probe::slug(facts, device::load(device::find_database(options.devdb)));
  } catch (Error const&) {
    if (!options.devdb.empty()) throw;  // without a database a device still has a name
    return facts.device;
  }
}

void list(Options const& options, cli::Streams& io) {
  std::vector<record::ProbedDevice> rows;
  probe::Devices const devices;
  for (auto const& listed : devices.all()) {
    rows.push_back(probe::row_of(listed));
    rows.back().device = slug_of(listed.facts, options);
  }
  io.write(rows);
}

std::vector<record::Measurement> read_rows(cli::Streams& io, std::string const& path) {
  std::vector<record::Measurement> rows;
  auto csv = io.csv_of_interrupted(path);
  record::Reader<record::Measurement> reader(csv);
  for (record::Measurement row; reader.next(row);) {
    device::refuse_unknown_metric(row, reader);
    rows.push_back(row);
  }
  return rows;
}

probe::Settings settings_of(Options const& options, cli::Streams const& io) {
  return {options.quick      ? probe::Depth::quick
          : options.thorough ? probe::Depth::thorough
                             : probe::Depth::normal,
          probe::choose_benches(options.benches), io.seed()};
}

// The line of progress goes, also when the device is lost.
struct ClearLine {
  cli::Streams& io;
  ~ClearLine() { io.progress(""); }
};

// Measures, and hands every row to `row` at once.
probe::Report measure(Options const& options, cli::Streams& io, probe::Probe& probe,
                      std::vector<record::Measurement> have,
                      std::function<void(record::Measurement const&)> const& row) {
  probe::RunOptions run;
  run.settings = settings_of(options, io);
  run.source = probe::provenance(fmt::format("devprobe {}", version()), probe.facts());
  run.have = std::move(have);
  run.row = row;
  run.progress = [&io](probe::Progress const& p) { io.progress(probe::bar(p)); };
  io.set_device(probe.facts().name);
  auto report = [&] {
    ClearLine const after{io};
    return probe::run(probe, run);
  }();
  for (auto const& remark : probe::remarks(report)) io.note(remark);
  return report;
}

void write_measurements(Options const& options, cli::Streams& io, probe::Probe& probe,
                        std::vector<record::Measurement> const& have) {
  auto out = io.writer<record::Measurement>();
  for (auto const& row : have) out.write(row);
  measure(options, io, probe, have, [&](record::Measurement const& row) {
    out.write(row);
    if (io.format() == record::Format::csv) io.publish();
  });
  out.finish();
}

Status write_differences(Options const& options, cli::Streams& io, record::Device const& measured) {
  auto const database = device::load(options.check);
  auto const rows = probe::compare(measured, database.find(measured.device));
  io.write(rows);
  bool const differs = std::any_of(rows.begin(), rows.end(), [](auto const& row) { return row.verdict == "differs"; });
  return differs ? Status::finding : Status::done;
}

Status run(Options const& options, cli::Streams& io) {
  if (options.man_metrics) return record::describe_metrics(io.output()), Status::done;
  if (options.list) return list(options, io), Status::done;
  bool const rows_only = !options.summary && options.check.empty();
  std::vector<record::Measurement> rows;
  probe::Facts facts;
  if (!options.from.empty()) {
    rows = read_rows(io, options.from);
    if (rows_only)
      throw Error(Status::usage, "--from measures nothing, so there is nothing to write",
                  "add --summary or --check; to measure what a file lacks use --resume");
    facts = probe::facts_from(rows, options.device);
    if (!options.name.empty()) facts.device = options.name;
  } else {
    settings_of(options, io);  // names are checked before a device is touched
    auto have = options.resume.empty() ? std::vector<record::Measurement>{} : read_rows(io, options.resume);
    auto const probe = probe::Devices().open(options.device);
    probe->rename(slug_of(probe->facts(), options));
    probe::forget_failures(have, probe->facts());
    if (rows_only) return write_measurements(options, io, *probe, have), Status::done;
    rows = measure(options, io, *probe, std::move(have), {}).rows;
    facts = probe->facts();
  }
  auto const device = probe::summarise_device(rows, facts);
  if (!options.check.empty()) return write_differences(options, io, device);
  io.write(std::vector{device});
  return Status::done;
}

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<Options>();
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
  tool.run([options](cli::Streams& io) { return run(*options, io); });
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
