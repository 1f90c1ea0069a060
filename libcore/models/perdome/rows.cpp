#include "models/perdome/rows.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/diag/text.hpp"
#include "models/perdome/report.hpp"
#include "records/cli/shard.hpp"
#include "records/cli/values.hpp"
#include "records/table/passed_through.hpp"

namespace kernelcast::model::perdome {

namespace {

// DEVICE=RATE, by slug.
std::map<std::string, double> rates(device::DeviceDatabase const& database, std::vector<std::string> const& given,
                                    std::string const& option) {
  std::map<std::string, double> out;
  for (auto const& text : given) {
    auto const equal = text.find('=');
    if (equal == std::string::npos)
      throw Error(Status::usage, fmt::format("{}: '{}' has no =", option, text), "for example v100=1.4e13");
    out[database.find(text.substr(0, equal)).device] = cli::positive_number(text.substr(equal + 1), option);
  }
  return out;
}

// LOW:HIGH:POINTS, evenly on a log scale.
std::vector<double> grid(std::string const& text) {
  std::vector<double> parts;
  for (auto const piece : split(text, ':')) parts.push_back(cli::positive_number(piece, "--grid"));
  if (parts.size() != 3)
    throw Error(Status::usage, fmt::format("--grid: '{}' is not LOW:HIGH:POINTS", text), "for example 0.0625:64:41");
  double const low = parts[0], high = parts[1], points = parts[2];
  if (!(high > low) || points < 2 || points > 1000 || points != std::floor(points))
    throw Error(Status::usage, "--grid: the high end must be above the low one, points 2 to 1000", "0.0625:64:41");
  std::vector<double> out;
  for (int i = 0; i < points; ++i) out.push_back(low * std::exp2(std::log2(high / low) * i / (points - 1)));
  out.back() = high;
  return out;
}

// The partitions of the inputs, each with its system.
std::vector<PartitionedWork> read(cli::Streams& io, PartitionWork const& options,
                                  record::PassedThrough& extra_columns) {
  std::vector<PartitionedWork> out;
  for (auto const& path : io.inputs()) {
    auto csv = io.csv(path);
    PartitionRows rows(csv);
    extra_columns.begin(rows);
    for (record::Partition p; rows.next(p);) {
      auto work = work_of(rows, p);
      work.passed_through = extra_columns.cells(rows);
      if (options.systems.empty() && work.system.empty())
        throw rows.error("partition", "no system", "name one with --system, or in a column system");
      auto const systems = options.systems.empty() ? std::vector{work.system} : options.systems;
      for (auto const& system : systems) {
        out.push_back(work);
        out.back().system = system;
      }
    }
  }
  return out;
}

// A code on a system.
using Code = std::pair<std::string, double>;  // system, intensity

// Those of --intensity and of the input, as first met.
std::vector<Code> codes_of(PartitionWork const& options, std::vector<PartitionedWork> const& works) {
  if (!options.intensities.empty() && options.systems.empty())
    throw Error(Status::usage, "--intensity needs a --system", "for example --system i7-2600k+gtx750");
  std::vector<Code> out;
  auto const add = [&](Code const& code) {
    if (std::find(out.begin(), out.end(), code) == out.end()) out.push_back(code);
  };
  for (auto const& text : options.intensities)
    for (auto const& system : options.systems) add({system, cli::positive_number(text, "--intensity")});
  for (auto const& work : works) add({work.system, work.intensity});
  return out;
}

// Rows of an earlier, interrupted sweep.
class DoneRows {
 public:
  DoneRows(std::string const& path, cli::Streams& io) {
    if (path.empty()) return;
    auto csv = io.csv_of_interrupted(path);
    record::Reader<record::Bound> rows(csv);
    for (record::Bound row; rows.next(row);) rows_.emplace(key(row), row);
  }
  record::Bound const* find(record::Bound const& row) const {
    auto const found = rows_.find(key(row));
    return found == rows_.end() ? nullptr : &found->second;
  }
  std::size_t size() const { return rows_.size(); }

 private:
  using Key = std::tuple<std::string, std::string, double, std::optional<double>, std::optional<double>>;
  static Key key(record::Bound const& b) {
    return {b.partition, b.system, b.intensity, b.intensity_cpu, b.intensity_gpu};
  }
  std::map<Key, record::Bound> rows_;
};

}  // namespace

void partition_rows(PartitionWork const& options, cli::Streams& io) {
  auto const database = device::load(device::find_database(options.devdb));
  Systems systems(database, {!options.peaks, rates(database, options.flop_rates, "--flop-rate"),
                             rates(database, options.byte_rates, "--byte-rate")});
  std::vector<PartitionedWork> works;
  record::PassedThrough extra_columns;
  if (options.intensities.empty()) works = read(io, options, extra_columns);
  auto const codes = codes_of(options, works);
  if (options.best) {
    auto out = io.writer<record::Optimum>();
    for (auto const& [system, intensity] : codes)
      for (auto const& row : optimum_rows(systems[system], intensity)) out.write(row);
    return out.finish();
  }
  DoneRows const done(options.resume, io);
  auto out = io.writer<record::Bound>(extra_columns.names());
  cli::Shard shard(options.shard);
  bool const publish = options.sweep && io.format() == record::Format::csv && !io.to_standard_output();
  std::size_t known_rows = 0;
  auto const write_with = [&](record::Bound const& row, std::vector<std::string> const& cells) {
    if (!shard.takes_next()) return;
    auto const* const known = done.find(row);
    out.write(known ? *known : row, extra_columns.whole(cells));
    known_rows += known != nullptr;
    // An interruption loses nothing, neither this row nor those that come from the same file and are still to be
    // written.
    if (publish && (known_rows >= done.size() || !io.would_replace(options.resume))) io.publish();
  };
  auto const write = [&](record::Bound const& row) { write_with(row, {}); };
  auto const axis = grid(options.grid);
  for (auto const& [system, intensity] : codes)
    if (options.sweep)
      each_surface_row(systems[system], intensity, axis, write);
    else if (!options.intensities.empty())
      write(data_partition_row(systems[system], intensity));
  std::set<std::string> roofs;
  for (auto const& [system, intensity] : codes)
    if (options.roof && roofs.insert(system).second)
      for (auto const& row : roof_rows(systems[system])) write(row);
  for (auto const& work : works)
    write_with(partition_row(systems[work.system], work, options.link_bandwidth), work.passed_through);
  out.finish();
}

}  // namespace kernelcast::model::perdome
