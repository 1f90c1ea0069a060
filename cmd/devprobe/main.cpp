// devprobe: micro-benchmark a device, and keep the device database true.
#include <algorithm>
#include <ctime>
#include <memory>

#include <fmt/format.h>

#include "cli/cli.hpp"
#include "device/device.hpp"
#include "probe/probe.hpp"
#include "probe/summary.hpp"
#include "record/measurement.hpp"

using namespace kernelcast;

namespace {

struct Options {
  std::string device, name, resume, from, check, devdb;
  std::vector<std::string> benches;
  bool list = false, man_metrics = false, quick = false, thorough = false, summary = false;
};

// The database's slug where it knows the device by the driver's name, else the one made from that name.
std::string slug_of(probe::Facts const& facts, Options const& options) {
  if (!options.name.empty()) return options.name;
  try {
    auto const database = device::load(device::find_database(options.devdb));
    auto const wanted = probe::slug(facts.name);
    for (auto const& known : database.devices())
      if (probe::slug(known.name) == wanted || probe::slug(known.vendor + " " + known.name) == wanted)
        return known.device;
  } catch (Error const&) {
    if (!options.devdb.empty()) throw;  // without a database a device still has a name
  }
  return facts.device;
}

void list(Options const& options, cli::Streams& io) {
  auto out = io.writer<record::ProbedDevice>();
  probe::Devices const devices;
  for (auto const& [facts, status, reason] : devices.all()) {
    record::ProbedDevice row;
    row.spec = facts.spec;
    row.device = slug_of(facts, options);
    row.backend = facts.backend;
    row.kind = facts.kind;
    row.name = facts.name;
    row.vendor = facts.vendor;
    row.driver = facts.driver;
    if (facts.compute_units > 0) row.compute_units = facts.compute_units;
    if (facts.clock_hz > 0) row.clock_hz = facts.clock_hz;
    if (facts.memory_bytes > 0) row.memory_bytes = facts.memory_bytes;
    row.status = status;
    row.reason = reason;
    out.write(row);
  }
  out.finish();
}

std::vector<record::Measurement> read_rows(cli::Streams& io, std::string const& path) {
  std::vector<record::Measurement> rows;
  auto csv = io.csv(path);
  record::Reader<record::Measurement> reader(csv);
  for (record::Measurement row; reader.next(row);) {
    if (!record::find_metric(row.metric)) {
      std::vector<std::string> known;
      for (auto const& metric : record::metrics()) known.emplace_back(metric.name);
      throw reader.error("metric", fmt::format("no metric '{}'", row.metric), did_you_mean(row.metric, known));
    }
    rows.push_back(row);
  }
  return rows;
}

probe::Settings settings_of(Options const& options, cli::Streams const& io) {
  probe::Settings settings;
  settings.depth = options.quick      ? probe::Depth::quick
                   : options.thorough ? probe::Depth::thorough
                                      : probe::Depth::normal;
  settings.seed = io.seed();
  std::vector<std::string> known;
  for (auto const& bench : probe::benches()) known.emplace_back(bench.name);
  for (auto const& bench : options.benches) {
    if (std::find(known.begin(), known.end(), bench) == known.end())
      throw Error(Status::usage, fmt::format("no benchmark '{}'", bench), did_you_mean(bench, known, known.size()));
    settings.benches.insert(bench);
  }
  return settings;
}

std::string source_of(probe::Facts const& facts) {
  std::time_t const now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("devprobe {}, {}, {:04}-{:02}-{:02}", KERNELCAST_VERSION, facts.driver, parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday);
}

std::string bar(probe::Progress const& p) {
  constexpr std::size_t width = 24;
  std::size_t const full = p.total ? width * p.done / p.total : 0;
  auto const seconds = static_cast<unsigned>(p.remaining_s + 0.5);
  return fmt::format("[{}{}] {}/{} {}:{:02} left  {}", std::string(full, '#'), std::string(width - full, ' '), p.done,
                     p.total, seconds / 60, seconds % 60, p.text);
}

// Says what a reader of the rows should know.
void tell(cli::Streams& io, probe::Report const& report) {
  constexpr double idle_pct = 5;  // of the processor time for others; below it a machine counts as idle
  if (report.sampled > 0 && report.other_load_pct > idle_pct)
    io.note(
        fmt::format("the machine was not idle: other programs used {:.0f} % of its processors; run it again when "
                    "it is",
                    report.other_load_pct));
  if (report.doubtful > 0)
    io.note(fmt::format("{} row{} of status doubtful: the column reason says why", report.doubtful,
                        report.doubtful == 1 ? "" : "s"));
  if (report.failed > 0)
    io.note(fmt::format("{} row{} could not be measured: the column reason says why", report.failed,
                        report.failed == 1 ? "" : "s"));
}

// Measures, and hands every row to `row` at once.
probe::Report measure(Options const& options, cli::Streams& io, probe::Probe& probe,
                      std::vector<record::Measurement> have,
                      std::function<void(record::Measurement const&)> const& row) {
  probe::RunOptions run;
  run.settings = settings_of(options, io);
  run.source = source_of(probe.facts());
  run.have = std::move(have);
  run.row = row;
  run.progress = [&io](probe::Progress const& p) { io.progress(bar(p)); };
  io.set_device(probe.facts().name);
  auto report = [&] {
    try {
      return probe::run(probe, run);
    } catch (...) {
      io.progress("");
      throw;
    }
  }();
  io.progress("");
  tell(io, report);
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
  auto out = io.writer<record::DeviceDifference>();
  bool differs = false;
  for (auto const& row : rows) {
    out.write(row);
    differs = differs || row.verdict == "differs";
  }
  out.finish();
  return differs ? Status::finding : Status::done;
}

// For the page kernelcast-records(5).
void write_metrics(std::ostream& out) {
  auto const escaped = [](std::string_view text) {
    std::string escapes;
    for (char const c : text) escapes += c == '_' || c == '*' ? std::string("\\") + c : std::string(1, c);
    return escapes;
  };
  for (auto const& metric : record::metrics())
    out << fmt::format("*{}* ({})\n\t{}\n", escaped(metric.name), record::symbol(metric.unit), escaped(metric.meaning));
}

Status run(Options const& options, cli::Streams& io) {
  if (options.man_metrics) return write_metrics(io.output()), Status::done;
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
    std::erase_if(have, [&](auto const& row) {  // it is measured again
      return row.status == "failed" && row.device == probe->facts().device && row.backend == probe->facts().backend;
    });
    if (rows_only) return write_measurements(options, io, *probe, have), Status::done;
    rows = measure(options, io, *probe, std::move(have), {}).rows;
    facts = probe->facts();
  }
  auto const device = probe::summarise_device(rows, facts);
  if (!options.check.empty()) return write_differences(options, io, device);
  auto out = io.writer<record::Device>();
  out.write(device);
  out.finish();
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
  tool.list("--bench", options->benches,
            "only these: facts, clock, flops, global, cache, shared, texture, constant, latency, atomics, launch, "
            "copy, barrier, instruction",
            "NAME");
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
  app.add_option("--devdb", options->devdb, "the device database that knows the slugs (default: the installed one)")
      ->type_name("DIR");
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
          "as soon as it is measured. A value that cannot be is kept, with status doubtful and the reason.",
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
