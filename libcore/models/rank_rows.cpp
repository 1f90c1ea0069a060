#include "models/rank_rows.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diag/names.hpp"
#include "base/diag/text.hpp"
#include "base/process/process.hpp"
#include "models/calibration.hpp"
#include "models/configurations.hpp"
#include "models/graph/graph_file.hpp"
#include "models/graph/interconnect.hpp"
#include "models/overlap.hpp"
#include "models/score.hpp"
#include "records/cli/stdio.hpp"
#include "records/device/device.hpp"
#include "records/projection.hpp"
#include "records/ranking.hpp"
#include "records/table/passed_through.hpp"

namespace kernelcast::model {

namespace {

void check_time(record::RowReader const& rows, double time_s) {
  if (!(time_s > 0)) throw rows.error("time_s", "a time must be above 0", "an unknown time is an empty cell");
  if (time_s < 1e-30 || time_s > 1e30)  // ratios and sums would leave the range of numbers
    throw rows.error("time_s", "no kernel takes so many seconds", "between 1e-30 and 1e30");
}

void check_times(record::Reader<record::Projection> const& rows, record::Projection const& p) {
  if (!p.time_s) return;
  check_time(rows, *p.time_s);
  if (p.time_low_s && *p.time_low_s > *p.time_s)
    throw rows.error("time_low_s", "the lower end of the interval is above time_s", "low <= time <= high");
  if (p.time_high_s && *p.time_high_s < *p.time_s)
    throw rows.error("time_high_s", "the upper end of the interval is below time_s", "low <= time <= high");
}

// Which rows there are, by model, kernel, case and device, and of each the columns that a projection does not have:
// what maps row by row passes them through. Texts and lists of cells are kept once: a million rows share few.
class KnownRows {
 public:
  record::PassedThrough columns;

  // False where there is such a row.
  template <class R>
  bool add(R const& row, std::vector<std::string> cells) {
    return cells_of_.try_emplace(key_of(row), list(std::move(cells))).second;
  }
  template <class R>
  void rename_model(R const& row, std::string const& model) {
    auto known = cells_of_.extract(key_of(row));
    if (!known) return;
    known.key()[0] = text(model);
    cells_of_.insert(std::move(known));
  }
  // As many as there are columns now.
  template <class R>
  std::vector<std::string> cells(R const& row) {
    auto const known = cells_of_.find(key_of(row));
    return columns.whole(known == cells_of_.end() ? std::vector<std::string>{} : lists_[known->second]->first);
  }

 private:
  using Key = std::array<std::uint32_t, 4>;  // texts by number
  struct Hash {
    std::size_t operator()(Key const& key) const {
      std::uint64_t hash = 0;
      for (auto const number : key) hash = (std::rotl(hash, 23) ^ number) * 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
      return hash ^ (hash >> 32);
    }
  };

  template <class R>
  Key key_of(R const& row) {
    return {text(row.model), text(row.kernel), text(row.case_name), text(row.device)};
  }
  std::uint32_t text(std::string const& value) {
    return texts_.try_emplace(value, static_cast<std::uint32_t>(texts_.size())).first->second;
  }
  std::uint32_t list(std::vector<std::string> cells) {
    auto const [at, is_new] = list_of_.try_emplace(std::move(cells), static_cast<std::uint32_t>(lists_.size()));
    if (is_new) lists_.push_back(&*at);
    return at->second;
  }

  std::unordered_map<std::string, std::uint32_t> texts_;
  std::unordered_map<Key, std::uint32_t, Hash> cells_of_;  // by number in lists_
  std::map<std::vector<std::string>, std::uint32_t> list_of_;
  std::vector<std::pair<std::vector<std::string> const, std::uint32_t> const*> lists_;
};

void note_without_time(cli::Streams& io, std::size_t rows) {
  if (rows > 0) io.note(fmt::format("{} row{} without time left out", rows, rows == 1 ? "" : "s"));
}

using Cases = std::set<std::pair<std::string, std::string>>;  // kernel, case

std::vector<record::Projection> read_projections(cli::Streams& io, KnownRows& known, RankRows const& options,
                                                 Cases const& measured = {}) {
  std::vector<record::Projection> projections;
  std::size_t without_time = 0;
  for (auto const& path : io.inputs()) {
    auto csv = io.csv(path);
    record::Reader<record::Projection> rows(csv);
    known.columns.begin(rows);
    for (record::Projection p; rows.next(p);) {
      check_times(rows, p);
      if (p.model.empty()) p.model = "given";  // times of the user's own
      if (auto const& models = options.prefer;
          !models.empty() && std::find(models.begin(), models.end(), p.model) == models.end())
        throw rows.error("model", fmt::format("model '{}' is not among those of --prefer", p.model),
                         fmt::format("name it, too: --prefer {},{}", fmt::join(models, ","), p.model));
      if (options.total) {
        projections.push_back(std::move(p));
        continue;
      }
      // What is measured as a whole has several rows of a kernel.
      if (!known.add(p, known.columns.cells(rows)) &&
          !(options.each_time() && !measured.contains({p.kernel, p.case_name})))
        throw rows.error(
            "device",
            fmt::format("'{}' is duplicated for model '{}', kernel '{}', case '{}'", p.device, p.model, p.kernel,
                        p.case_name),
            "one row per model, kernel, case and device; give each variant its own case or model, or add them up "
            "with --total");
      without_time += !p.time_s && !options.each_time() && options.prefer.empty();
      if (p.time_s || options.each_time() || !options.prefer.empty()) projections.push_back(std::move(p));
    }
  }
  note_without_time(io, without_time);
  return projections;
}

// Of each kernel, case and device one model's rows. Where the result is a sum or a choice over all of them, they count
// as those of one model, which has all names.
void choose_models(std::vector<record::Projection>& projections, KnownRows& known, RankRows const& options,
                   cli::Streams& io) {
  projections = prefer(projections, options.prefer);
  if (!options.total) note_without_time(io, std::erase_if(projections, [](auto const& p) { return !p.time_s; }));
  if (options.is_ranking()) return;
  auto const all = fmt::format("{}", fmt::join(options.prefer, "+"));
  for (auto& p : projections) {
    known.rename_model(p, all);
    p.model = all;
  }
}

std::vector<record::Measured> read_measured(cli::Streams& io, std::string const& path) {
  std::vector<record::Measured> measured;
  auto csv = io.csv(path);
  record::Reader<record::Measured> rows(csv);
  for (record::Measured m; rows.next(m);) {
    if (m.time_s) check_time(rows, *m.time_s);
    measured.push_back(std::move(m));
  }
  return measured;
}

// What the device database adds to measurements: other names of the devices, and their peaks.
struct KnownDevices {
  std::map<std::string, std::string> id_of;  // by every name that means one device only
  template <class R>
  void use_ids(std::vector<R>& rows) const {
    for (auto& row : rows)
      if (auto const found = id_of.find(row.device); found != id_of.end()) row.device = found->second;
  }
  std::map<std::string, KnownDevice> known;
};

std::vector<device::Device const*> pointers(device::DeviceDatabase const& database) {
  return database.choose({}, [](auto const&) { return true; });
}

KnownDevices read_devices(device::DeviceDatabase const& database) {
  std::map<std::string, std::set<std::string>> ids;
  for (auto const& known : database.devices())
    for (auto const& name : {known.device, known.name}) ids[name].insert(known.device);
  for (auto const& alias : database.aliases()) ids[alias.name].insert(alias.device);
  KnownDevices out;
  for (auto const& [name, candidates] : ids)
    if (candidates.size() == 1) out.id_of[name] = *candidates.begin();
  for (auto const& known : database.devices())
    out.known[known.device] = {{known.peak_fp32_flop_per_s.value_or(0), known.peak_bandwidth_bytes_per_s.value_or(0)},
                               known.measured_bandwidth_bytes_per_s.value_or(0),
                               known.architecture};
  return out;
}

// Rows that stand for one projection each.
template <class R>
void write(cli::Streams& io, std::vector<R> const& rows, KnownRows& known) {
  auto out = io.writer<R>(known.columns.names());
  for (auto const& row : rows) out.write(row, known.cells(row));
  out.finish();
}

void write_assessments(cli::Streams& io, RankRows const& options, std::vector<record::Projection> projections) {
  auto measured = read_measured(io, options.measured);
  auto const database = device::load(device::find_database(options.devdb));
  auto const devices = read_devices(database);
  devices.use_ids(measured);
  devices.use_ids(projections);
  auto const assessed = assess(projections, measured);
  if (assessed.too_few > 0)
    io.note(fmt::format("{} of {} cases left out: fewer than two devices are both projected and measured",
                        assessed.too_few, assessed.too_few + assessed.rows.size()));
  if (assessed.measured_not_projected > 0)
    io.note(fmt::format("{} measured times left out: the model has no time for that device",
                        assessed.measured_not_projected));
  if (!options.summary) return io.write(assessed.rows);
  std::map<std::string, Peaks> peaks;
  for (auto const& [device, known] : devices.known) peaks[device] = known.peaks;
  io.write(summarise(projections, measured, peaks));
}

void write_configurations(cli::Streams& io, RankRows const& options, std::vector<record::Projection>& projections) {
  if (options.portable) return io.write(portable(projections));
  if (options.measured.empty()) return io.write(rank_configurations(projections, options.top));
  auto measured = read_measured(io, options.measured);
  auto const database = device::load(device::find_database(options.devdb));
  auto const devices = read_devices(database);
  devices.use_ids(measured);
  devices.use_ids(projections);
  io.write(score_configurations(projections, measured));
}

// Of the contents of files, one after the other.
std::string hash_of(std::vector<std::string> const& paths) {
  cli::ContentHash hash;
  for (auto const& path : paths) {
    auto const text = read_file(path);
    hash.add(text.data(), text.size());
  }
  return hash.hex();
}

void write_calibration(cli::Streams& io, RankRows const& options, std::vector<Residual> const& residuals) {
  if (options.calibrate == "coverage") return io.write(coverage(residuals));
  auto const hash = hash_of(options.made_from);
  auto const write = [&](auto rows) {
    for (auto& row : rows) {
      row.source = options.source;
      row.hash = hash;
    }
    io.write(rows);
  };
  if (options.calibrate == "ratios") return write(ratios(residuals));
  write(intervals(residuals));
}

void write_scores(cli::Streams& io, RankRows const& options) {
  for (auto const& by : options.by)
    if (auto const& known = score_groups(); std::find(known.begin(), known.end(), by) == known.end())
      throw Error(Status::usage, fmt::format("--by: no group '{}'", by), did_you_mean(by, known));
  auto measured = read_measured(io, options.measured);
  auto const database = device::load(device::find_database(options.devdb));
  auto const devices = read_devices(database);
  devices.use_ids(measured);
  Cases cases;
  for (auto const& m : measured) cases.insert({m.kernel, m.case_name});
  KnownRows known;
  auto projections = read_projections(io, known, options, cases);
  devices.use_ids(projections);
  if (options.comparisons) return io.write(compare_times(projections, measured));
  if (!options.calibrate.empty()) return write_calibration(io, options, residuals(projections, measured, database));
  io.write(score(projections, measured, {options.by, devices.known, io.seed(), Orders(pointers(database))}));
}

void write_assignments(cli::Streams& io, std::vector<record::Projection> const& projections) {
  std::vector<record::Assignment> rows;
  for (auto const& schedule : assign(projections)) {
    if (!schedule.exact)
      io.note(fmt::format("model {}: too many kernels to search all assignments; this one may not end earliest",
                          schedule.model));
    rows.insert(rows.end(), schedule.rows.begin(), schedule.rows.end());
  }
  io.write(rows);
}

// How many times the host's own time counts.
double host_factor(std::string const& text) {
  if (text.empty() || text == "none") return 0;
  if (text == "measured") return 1;
  auto const factor = to_number<double>(text);
  if (!factor || !(*factor >= 0 && *factor <= 1e6))
    throw Error(Status::usage, fmt::format("--host: '{}' is no part of the host's time", text),
                "measured, none, or a factor, such as 0.5 of a host that is twice as fast as this one");
  return *factor;
}

// How often each kernel is launched; of an application that ran as several vendors' devices where that was most.
std::map<std::string, std::uint64_t> launches_of(std::string const& commands, cli::Streams& io) {
  std::map<std::string, std::uint64_t> out;
  if (commands.empty()) return out;
  std::map<std::pair<std::string, std::string>, std::uint64_t> launches;
  auto csv = io.csv(commands);
  record::Reader<record::Command> reader(csv);
  for (record::Command command; reader.next(command);)
    if (command.kind == record::CommandKind::kernel || command.kind == record::CommandKind::library)
      ++launches[{region_of_kernel(command.kernel), command.runs_on}];
  for (auto const& [key, n] : launches) out[key.first] = std::max(out[key.first], n);
  return out;
}

// The longest kernel first, by its time on the device that is the fastest for it.
void write_each_kernel(cli::Streams& io, RankRows const& options, std::vector<record::Ranking> rows) {
  auto const launches = launches_of(options.commands, io);
  std::map<std::tuple<std::string, std::string, std::string>, double> best;
  auto const key_of = [](record::Ranking const& row) { return std::tuple(row.model, row.case_name, row.kernel); };
  for (auto const& row : rows)
    if (row.rank == 1) best[key_of(row)] = row.time_s;
  std::ranges::sort(rows, {}, [&](auto const& row) {
    return std::tuple(row.model, row.case_name, -best[key_of(row)], row.kernel, row.rank, row.device);
  });
  using Names = std::vector<std::string>;
  auto out = io.writer<record::Ranking>(options.commands.empty() ? Names{} : Names{"launches"});
  for (auto const& row : rows) {
    auto const found = launches.find(row.kernel);
    Names cells;
    if (!options.commands.empty()) cells.push_back(found == launches.end() ? "0" : fmt::format("{}", found->second));
    if (!options.undecided || !row.decided) out.write(row, cells);
  }
  out.finish();
}

// Of the whole application, with what overlaps.
std::vector<record::Projection> total_of_commands(std::vector<record::Projection> const& projections,
                                                  RankRows const& options, cli::Streams& io) {
  auto csv = io.csv(options.commands);
  record::Reader<record::Command> reader(csv);
  VendorOrders orders;
  for (record::Command command; reader.next(command);)
    if (auto const wrong = orders[command.runs_on].add(command); !wrong.empty())
      throw reader.error("after", wrong, "a file that miniemu --attach --commands has written");
  auto const database = device::load(device::find_database(options.devdb));
  DeviceLinks links(database, options.link);
  std::optional<graph::Interconnect> system;
  if (!options.system.empty()) {
    auto const path = graph::find_file(database.path(), "systems", ".csv", options.system, "--system");
    auto rows = io.csv(path);
    system.emplace(graph::read_system(rows, std::filesystem::path(path).stem().string()));
    links.set_system({system->name(), system->gpu_count(), [&](std::size_t from, std::size_t to) {
                        auto const pair = system->pair(from, to);
                        auto const route = system->route(pair);
                        bool const nvlink = std::ranges::all_of(
                            route, [&](auto channel) { return system->channels()[channel].link_class == "nvlink"; });
                        return DeviceLinks::System::Route{system->width(pair), system->latency_s(pair), nvlink,
                                                          nvlink && route.size() > 1};
                      }});
  }
  auto out = application_times(orders, projections, database, links,
                               options.total_as.empty() ? "application" : options.total_as, host_factor(options.host));
  auto const note = [&](std::vector<std::string> const& devices, std::string_view why) {
    if (!devices.empty()) io.note(fmt::format("{}: {}", fmt::join(devices, ", "), why));
  };
  note(out.left_out, "left out: no time for some kernel of the application");
  note(out.uncounted, "has no row: its launches take no time");
  note(out.no_link, "left out: it is not known how the device is attached to the host, which copies need");
  return std::move(out.rows);
}

Prices read_prices(RankRows const& options, device::DeviceDatabase const& database, cli::Streams& io) {
  Prices prices;
  if (options.prices.empty()) return prices;
  auto csv = io.csv(options.prices);
  record::Reader<record::Price> rows(csv);
  for (record::Price price; rows.next(price);)
    if (auto const fault = prices.add(price, database))
      throw rows.error(fault->column, fault->text, "one currency in all rows; a price is of an hour of the instance");
  if (!prices.unknown().empty())
    io.note(fmt::format("prices of devices that the database does not have, left out: {}",
                        fmt::join(prices.unknown(), ", ")));
  return prices;
}

// Rankings with cost and energy.
void write_priced(cli::Streams& io, std::vector<record::Projection> const& projections, RankRows const& options,
                  device::DeviceDatabase const& database, Together together, KnownRows& known) {
  auto const order = options.order();
  if (order == RankBy::cost && options.prices.empty())
    throw Error(Status::usage, "--by cost needs --prices FILE",
                "kernelcast devices --price-template > prices.csv makes one to fill in");
  auto ranked = rank_priced(projections, order, read_prices(options, database, io), database, together,
                            Orders(pointers(database)));
  if (!ranked.left_out.empty())
    io.note(fmt::format("left out, as their {} not known: {}", order == RankBy::cost ? "price is" : "board power is",
                        fmt::join(ranked.left_out, ", ")));
  if (options.undecided) std::erase_if(ranked.rows, [](auto const& row) { return row.decided; });
  write(io, ranked.rows, known);
}

void check_order(RankRows const& options) {
  if (options.scores || options.by.empty()) return;
  std::vector<std::string> const orders{"time", "cost", "energy"};
  auto const& by = options.by.front();
  if (options.by.size() > 1 || std::find(orders.begin(), orders.end(), by) == orders.end())
    throw Error(Status::usage, fmt::format("--by: no order '{}'", fmt::join(options.by, ",")),
                score_groups().end() != std::find(score_groups().begin(), score_groups().end(), by)
                    ? "time, cost or energy; groups of measured times need --measured and --scores"
                    : did_you_mean(by, orders));
}

}  // namespace

void rank_rows(RankRows const& options, cli::Streams& io) {
  check_order(options);
  if (options.each_time()) return write_scores(io, options);
  KnownRows known;
  auto projections = read_projections(io, known, options);
  if (!options.prefer.empty()) choose_models(projections, known, options, io);
  if (!options.commands.empty() && !options.each_kernel) {
    projections = total_of_commands(projections, options, io);
    known = {};
  } else if (options.total) {
    if (!options.total_as.empty())
      for (auto& p : projections) p.case_name = options.total_as;
    std::optional<device::DeviceDatabase> database;
    if (options.vendors_apart) database = device::load(device::find_database(options.devdb));
    auto const vendor = [&](std::string const& name) { return database->find(name).vendor; };
    auto const of = options.each_kernel ? SumOf::each_kernel : SumOf::all;
    auto totals = options.vendors_apart ? total(projections, vendor, of) : total(projections, {}, of);
    if (totals.incomplete > 0)
      io.note(fmt::format("{} device{} left out: no time for some kernel of the case", totals.incomplete,
                          totals.incomplete == 1 ? "" : "s"));
    projections = std::move(totals.rows);
    known = {};
  }
  if (options.configurations) return write_configurations(io, options, projections);
  if (!options.measured.empty()) return write_assessments(io, options, projections);
  if (options.share) return write(io, share(projections), known);
  if (options.assign) return write_assignments(io, projections);
  auto const database = device::load(device::find_database(options.devdb));
  auto const together = options.prefer.empty() ? Together::model : Together::all;
  if (options.is_priced()) return write_priced(io, projections, options, database, together, known);
  if (options.each_kernel)
    return write_each_kernel(io, options, rank(projections, together, Orders(pointers(database))));
  auto out = io.writer<record::Ranking>(known.columns.names());
  rank(projections, together, Orders(pointers(database)), [&](record::Ranking const& row) {
    if (!options.undecided || !row.decided) out.write(row, known.cells(row));
  });
  out.finish();
}

}  // namespace kernelcast::model
