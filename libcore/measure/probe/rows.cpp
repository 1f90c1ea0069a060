#include "measure/probe/rows.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/version/version.hpp"
#include "measure/probe/messages.hpp"
#include "measure/probe/probe.hpp"
#include "measure/probe/summary.hpp"
#include "records/device/device.hpp"
#include "records/device/measurements.hpp"
#include "records/measurement.hpp"

namespace kernelcast::probe {

namespace {

// A name for the device, the database's where it knows it.
std::string slug_of(Facts const& facts, ProbeRows const& options) {
  if (!options.name.empty()) return options.name;
  try {
    return slug(facts, device::load(device::find_database(options.devdb)));
  } catch (Error const&) {
    if (!options.devdb.empty()) throw;  // without a database a device still has a name
    return facts.device;
  }
}

void list(ProbeRows const& options, cli::Streams& io) {
  std::vector<record::ProbedDevice> rows;
  Devices const devices;
  for (auto const& listed : devices.all()) {
    rows.push_back(row_of(listed));
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

Settings settings_of(ProbeRows const& options, cli::Streams const& io) {
  return {options.quick      ? Depth::quick
          : options.thorough ? Depth::thorough
                             : Depth::normal,
          choose_benches(options.benches), io.seed()};
}

// The line of progress goes, also when the device is lost.
struct ClearLine {
  cli::Streams& io;
  ~ClearLine() { io.progress(""); }
};

// Measures, and hands every row to `row` at once.
Report measure(ProbeRows const& options, cli::Streams& io, Probe& probe, std::vector<record::Measurement> have,
               std::function<void(record::Measurement const&)> const& row) {
  RunOptions run;
  run.settings = settings_of(options, io);
  run.source = provenance(fmt::format("devprobe {}", version()), probe.facts());
  run.have = std::move(have);
  run.row = row;
  run.progress = [&io](Progress const& p) { io.progress(bar(p)); };
  io.set_device(probe.facts().name);
  auto report = [&] {
    ClearLine const after{io};
    return kernelcast::probe::run(probe, run);
  }();
  for (auto const& remark : remarks(report)) io.note(remark);
  return report;
}

void write_measurements(ProbeRows const& options, cli::Streams& io, Probe& probe,
                        std::vector<record::Measurement> const& have) {
  auto out = io.writer<record::Measurement>();
  for (auto const& row : have) out.write(row);
  measure(options, io, probe, have, [&](record::Measurement const& row) {
    out.write(row);
    if (io.format() == record::Format::csv) io.publish();
  });
  out.finish();
}

Status write_differences(ProbeRows const& options, cli::Streams& io, record::Device const& measured) {
  auto const database = device::load(options.check);
  auto const rows = compare(measured, database.find(measured.device));
  io.write(rows);
  bool const differs = std::any_of(rows.begin(), rows.end(), [](auto const& row) { return row.verdict == "differs"; });
  return differs ? Status::finding : Status::done;
}

}  // namespace

Status probe_rows(ProbeRows const& options, cli::Streams& io) {
  if (options.man_metrics) return record::describe_metrics(io.output()), Status::done;
  if (options.list) return list(options, io), Status::done;
  bool const rows_only = !options.summary && options.check.empty();
  std::vector<record::Measurement> rows;
  Facts facts;
  if (!options.from.empty()) {
    rows = read_rows(io, options.from);
    if (rows_only)
      throw Error(Status::usage, "--from measures nothing, so there is nothing to write",
                  "add --summary or --check; to measure what a file lacks use --resume");
    facts = facts_from(rows, options.device);
    if (!options.name.empty()) facts.device = options.name;
  } else {
    settings_of(options, io);  // names are checked before a device is touched
    auto have = options.resume.empty() ? std::vector<record::Measurement>{} : read_rows(io, options.resume);
    auto const probe = Devices().open(options.device);
    probe->rename(slug_of(probe->facts(), options));
    forget_failures(have, probe->facts());
    if (rows_only) return write_measurements(options, io, *probe, have), Status::done;
    rows = measure(options, io, *probe, std::move(have), {}).rows;
    facts = probe->facts();
  }
  auto const device = summarise_device(rows, facts);
  if (!options.check.empty()) return write_differences(options, io, device);
  io.write(std::vector{device});
  return Status::done;
}

}  // namespace kernelcast::probe
