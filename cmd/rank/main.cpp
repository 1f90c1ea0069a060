// rank: which device runs a kernel fastest, by how much, and how good that choice was.
#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/process/process.hpp"
#include "models/calibration.hpp"
#include "models/configurations.hpp"
#include "models/overlap.hpp"
#include "models/price.hpp"
#include "models/score.hpp"
#include "records/cli/cli.hpp"
#include "records/cli/stdio.hpp"
#include "records/device/device.hpp"
#include "records/passed_through.hpp"
#include "records/projection.hpp"
#include "records/ranking.hpp"

using namespace kernelcast;

namespace {

struct Options {
  std::string measured, devdb, total_as, commands;
  std::string calibrate, source, prices;
  std::vector<std::string> by, prefer, made_from;
  std::size_t top = 0;
  bool undecided = false, configurations = false, portable = false;
  bool summary = false, scores = false, comparisons = false, share = false, assign = false, total = false, host = false;
  // Every measured time counts, also one that is not projected.
  bool each_time() const { return scores || comparisons || !calibrate.empty(); }
  bool is_ranking() const { return measured.empty() && !share && !assign && !total; }
  // What --by says of a ranking; it names groups where there are scores.
  model::RankBy order() const {
    if (by.empty()) return model::RankBy::time;
    return by.front() == "energy" ? model::RankBy::energy
           : by.front() == "cost" ? model::RankBy::cost
                                  : model::RankBy::time;
  }
  bool is_priced() const { return !prices.empty() || !by.empty(); }
};

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

std::vector<record::Projection> read_projections(cli::Streams& io, KnownRows& known, Options const& options,
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
void choose_models(std::vector<record::Projection>& projections, KnownRows& known, Options const& options,
                   cli::Streams& io) {
  projections = model::prefer(projections, options.prefer);
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
  std::map<std::string, model::KnownDevice> known;
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

void write_assessments(cli::Streams& io, Options const& options, std::vector<record::Projection> projections) {
  auto measured = read_measured(io, options.measured);
  auto const database = device::load(device::find_database(options.devdb));
  auto const devices = read_devices(database);
  devices.use_ids(measured);
  devices.use_ids(projections);
  auto const assessed = model::assess(projections, measured);
  if (assessed.too_few > 0)
    io.note(fmt::format("{} of {} cases left out: fewer than two devices are both projected and measured",
                        assessed.too_few, assessed.too_few + assessed.rows.size()));
  if (assessed.measured_not_projected > 0)
    io.note(fmt::format("{} measured times left out: the model has no time for that device",
                        assessed.measured_not_projected));
  if (!options.summary) return io.write(assessed.rows);
  std::map<std::string, model::Peaks> peaks;
  for (auto const& [device, known] : devices.known) peaks[device] = known.peaks;
  io.write(model::summarise(projections, measured, peaks));
}

void write_configurations(cli::Streams& io, Options const& options, std::vector<record::Projection>& projections) {
  if (options.portable) return io.write(model::portable(projections));
  if (options.measured.empty()) return io.write(model::rank_configurations(projections, options.top));
  auto measured = read_measured(io, options.measured);
  auto const database = device::load(device::find_database(options.devdb));
  auto const devices = read_devices(database);
  devices.use_ids(measured);
  devices.use_ids(projections);
  io.write(model::score_configurations(projections, measured));
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

void write_calibration(cli::Streams& io, Options const& options, std::vector<model::Residual> const& residuals) {
  if (options.calibrate == "coverage") return io.write(model::coverage(residuals));
  auto const hash = hash_of(options.made_from);
  auto const write = [&](auto rows) {
    for (auto& row : rows) {
      row.source = options.source;
      row.hash = hash;
    }
    io.write(rows);
  };
  if (options.calibrate == "ratios") return write(model::ratios(residuals));
  write(model::intervals(residuals));
}

void write_scores(cli::Streams& io, Options const& options) {
  for (auto const& by : options.by)
    if (auto const& known = model::score_groups(); std::find(known.begin(), known.end(), by) == known.end())
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
  if (options.comparisons) return io.write(model::compare_times(projections, measured));
  if (!options.calibrate.empty())
    return write_calibration(io, options, model::residuals(projections, measured, database));
  io.write(
      model::score(projections, measured, {options.by, devices.known, io.seed(), model::Orders(pointers(database))}));
}

void write_assignments(cli::Streams& io, std::vector<record::Projection> const& projections) {
  std::vector<record::Assignment> rows;
  for (auto const& schedule : model::assign(projections)) {
    if (!schedule.exact)
      io.note(fmt::format("model {}: too many kernels to search all assignments; this one may not end earliest",
                          schedule.model));
    rows.insert(rows.end(), schedule.rows.begin(), schedule.rows.end());
  }
  io.write(rows);
}

// Of the whole application, with what overlaps.
std::vector<record::Projection> total_of_commands(std::vector<record::Projection> const& projections,
                                                  Options const& options, cli::Streams& io) {
  auto csv = io.csv(options.commands);
  record::Reader<record::Command> reader(csv);
  model::CommandOrder order;
  for (record::Command command; reader.next(command);)
    if (auto const wrong = order.add(std::move(command)); !wrong.empty())
      throw reader.error("after", wrong, "a file that miniemu --attach --commands has written");
  auto const database = device::load(device::find_database(options.devdb));
  auto out = model::application_times(order, projections, database,
                                      options.total_as.empty() ? "application" : options.total_as, options.host);
  auto const note = [&](std::vector<std::string> const& devices, std::string_view why) {
    if (!devices.empty()) io.note(fmt::format("{}: {}", fmt::join(devices, ", "), why));
  };
  note(out.left_out, "left out: no time for some kernel of the application");
  note(out.no_link, "left out: it is not known how the device is attached to the host, which copies need");
  return std::move(out.rows);
}

model::Prices read_prices(Options const& options, device::DeviceDatabase const& database, cli::Streams& io) {
  model::Prices prices;
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
void write_priced(cli::Streams& io, std::vector<record::Projection> const& projections, Options const& options,
                  device::DeviceDatabase const& database, model::Together together, KnownRows& known) {
  auto const order = options.order();
  if (order == model::RankBy::cost && options.prices.empty())
    throw Error(Status::usage, "--by cost needs --prices FILE",
                "kernelcast devices --price-template > prices.csv makes one to fill in");
  auto ranked = model::rank_priced(projections, order, read_prices(options, database, io), database, together,
                                   model::Orders(pointers(database)));
  if (!ranked.left_out.empty())
    io.note(fmt::format("left out, as their {} not known: {}",
                        order == model::RankBy::cost ? "price is" : "board power is",
                        fmt::join(ranked.left_out, ", ")));
  if (options.undecided) std::erase_if(ranked.rows, [](auto const& row) { return row.decided; });
  write(io, ranked.rows, known);
}

void check_order(Options const& options) {
  if (options.scores || options.by.empty()) return;
  std::vector<std::string> const orders{"time", "cost", "energy"};
  auto const& by = options.by.front();
  if (options.by.size() > 1 || std::find(orders.begin(), orders.end(), by) == orders.end())
    throw Error(Status::usage, fmt::format("--by: no order '{}'", fmt::join(options.by, ",")),
                model::score_groups().end() != std::find(model::score_groups().begin(), model::score_groups().end(), by)
                    ? "time, cost or energy; groups of measured times need --measured and --scores"
                    : did_you_mean(by, orders));
}

void run(Options const& options, cli::Streams& io) {
  check_order(options);
  if (options.each_time()) return write_scores(io, options);
  KnownRows known;
  auto projections = read_projections(io, known, options);
  if (!options.prefer.empty()) choose_models(projections, known, options, io);
  if (!options.commands.empty()) {
    projections = total_of_commands(projections, options, io);
    known = {};
  } else if (options.total) {
    if (!options.total_as.empty())
      for (auto& p : projections) p.case_name = options.total_as;
    auto totals = model::total(projections);
    if (totals.incomplete > 0)
      io.note(fmt::format("{} device{} left out: no time for some kernel of the case", totals.incomplete,
                          totals.incomplete == 1 ? "" : "s"));
    projections = std::move(totals.rows);
    known = {};
  }
  if (options.configurations) return write_configurations(io, options, projections);
  if (!options.measured.empty()) return write_assessments(io, options, projections);
  if (options.share) return write(io, model::share(projections), known);
  if (options.assign) return write_assignments(io, projections);
  auto const database = device::load(device::find_database(options.devdb));
  auto const together = options.prefer.empty() ? model::Together::model : model::Together::all;
  if (options.is_priced()) return write_priced(io, projections, options, database, together, known);
  auto out = io.writer<record::Ranking>(known.columns.names());
  model::rank(projections, together, model::Orders(pointers(database)), [&](record::Ranking const& row) {
    if (!options.undecided || !row.decided) out.write(row, known.cells(row));
  });
  out.finish();
}

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<Options>();
  auto& app = tool.app();
  auto* const measured = app.add_option("--measured", options->measured,
                                        "compare with the measured times in this file (columns kernel, case or size, "
                                        "device, time_s): how much the choice of each model loses")
                             ->type_name("FILE");
  app.add_flag("--summary", options->summary,
               "with --measured: one row per model with the means, and the trivial rankings beside")
      ->needs(measured);
  auto* const scores =
      app.add_flag(
             "--scores", options->scores,
             "with --measured: errors, order, choice and intervals of each model, of trivial ones beside, over all "
             "times, as the mean over the suites, and by the groups of --by")
          ->needs(measured);
  auto* const comparisons = app.add_flag("--comparisons", options->comparisons,
                                         "with --measured: each projected time beside the measured one, for figure")
                                ->needs(measured);
  comparisons->excludes(scores);
  auto* const calibrate =
      app.add_option("--calibrate", options->calibrate,
                     "with --measured: what the device database has of such residuals, intervals or ratios; or their "
                     "coverage of kernels, devices and architectures that were left out when they were made")
          ->type_name("WHAT")
          ->check(CLI::IsMember({"intervals", "ratios", "coverage"}))
          ->needs(measured)
          ->excludes(scores)
          ->excludes(comparisons);
  app.add_option("--source", options->source, "with --calibrate: the text of the column source")
      ->type_name("TEXT")
      ->default_val("measured")
      ->needs(calibrate);
  tool.list("--made-from", options->made_from, "with --calibrate: files that the column hash is of", "FILES")
      ->needs(calibrate);
  tool.list(
      "--by", options->by,
      "what the ranking is by: time, cost, which needs --prices, or energy, at most: the stated board power over "
      "the time; the rows have all three then; with --scores: groups to score, too: suite, program, part (columns "
      "of the measured times), device, architecture, limiter, regime",
      "ORDER|GROUPS");
  app.add_option("--prices", options->prices,
                 "prices of an hour of the devices (columns device, gpus_per_instance, price_per_hour, currency, "
                 "provider, region, as_of): the ranking has the cost of a run and the energy that it takes at most")
      ->type_name("FILE")
      ->excludes(measured);
  cli::database_option(app, options->devdb,
                       "the device database that tells when an order is decided and, with --measured, other names "
                       "of devices and their peaks (default: the installed one)");
  auto* const share =
      app.add_flag("--share", options->share, "split each kernel over its devices, in parts proportional to 1/time");
  auto* const assign = app.add_flag("--assign", options->assign,
                                    "place all kernels on the devices so that the last one ends as early as possible");
  auto* const total = app.add_flag("--total", options->total,
                                   "add up the times of all kernels and configurations of each case first: which "
                                   "device runs the whole program fastest");
  app.add_option("--total-as", options->total_as,
                 "with --total: add up all cases, too, and call the sum so; for rows of one application")
      ->type_name("CASE")
      ->needs(total);
  auto* const commands =
      app.add_option("--commands", options->commands,
                     "with --total: what the application asks of its device, in order, as miniemu --attach --commands "
                     "writes it: the total is the time that all of it takes where streams and copies overlap, and "
                     "kernel sum the time of all commands one after the other")
          ->type_name("FILE")
          ->needs(total);
  app.add_flag("--host", options->host, "with --commands: the host's own time between the calls counts, too")
      ->needs(commands);
  app.add_flag("--undecided", options->undecided,
               "write only what is not decided: of each kernel and case whose choice is open the fastest device and "
               "those that may be as fast, for --only of miniemu and akemu")
      ->excludes(measured)
      ->excludes(share)
      ->excludes(assign);
  auto* const configurations =
      app.add_flag("--configurations", options->configurations,
                   "rank the cases of each kernel and device instead of the devices of each case: which variant is the "
                   "fastest; with --measured how good that order is, beside a random one and that by occupancy")
          ->excludes(share)
          ->excludes(assign);
  app.add_option("--top", options->top, "with --configurations: only so many of each kernel and device")
      ->type_name("N")
      ->needs(configurations)
      ->excludes(measured);
  app.add_flag("--portable", options->portable,
               "with --configurations: rank the cases of each kernel by what they lose over the devices")
      ->needs(configurations)
      ->excludes(measured);
  tool.list("--prefer", options->prefer,
            "rank times of several models together: of each kernel, case and device that of the model that comes first "
            "here and has one",
            "MODELS")
      ->excludes(scores)
      ->excludes(comparisons);
  share->excludes(measured)->excludes(assign);
  assign->excludes(measured);
  tool.run([options](cli::Streams& io) { run(*options, io); });
}

}  // namespace

int main(int argc, char** argv) {
  cli::About const about{
      .name = "rank",
      .summary = "rank devices by projected kernel time",
      .description =
          "Reads projections of any models, several kernels, cases and models at once, and writes for each "
          "of them the devices from the fastest to the slowest. A difference counts as decided where it exceeds "
          "what the ratios of measured times have missed the projected ones by. Rows without a time are left "
          "out and counted on standard error.",
      .input = {&record::Projection::schema(), &record::Command::schema(), &record::Price::schema()},
      .output = {&record::Ranking::schema(), &record::PricedRanking::schema(), &record::Assessment::schema(),
                 &record::AssessmentSummary::schema(), &record::ConfigurationRanking::schema(),
                 &record::Portability::schema(), &record::ConfigurationScore::schema(), &record::Share::schema(),
                 &record::Assignment::schema(), &record::Interval::schema(), &record::Ratio::schema(),
                 &record::Coverage::schema()},
      .statuses = {},
      .see_also = {"perfcast(1)", "miniemu(1)"},
      .examples = {
          {"miniemu mmul.cl -k mmul -g 1024,1024 -l 16,16 | perfcast | rank --format table",
           "which device runs this kernel fastest, as a table"},
          {"miniemu lu.toml | perfcast | rank --total", "which device runs all launches of a program fastest"},
          {"miniemu sweep.toml | perfcast --device a100 | rank --configurations --top 10", "the variants to try first"},
          {"miniemu --attach --commands c.csv -o k.csv -- ./app; perfcast k.csv | rank --total --commands c.csv",
           "the same of an application, where its streams and copies overlap"},
          {"rank --prices prices.csv --by cost p.csv", "which device costs least for a run"},
          {"rank --measured times.csv --summary p.csv", "how good the choices of each model were"}}};
  return cli::tool_main(argc, argv, about, declare);
}
