#include "models/project_rows.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <optional>
#include <sstream>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/own_times.hpp"
#include "models/panwar.hpp"
#include "models/queue.hpp"
#include "models/trivial.hpp"
#include "records/cli/values.hpp"
#include "records/device/device.hpp"
#include "records/table/passed_through.hpp"

namespace kernelcast::model {

namespace {

panwar::Options model_options(ProjectRows const& options, device::DeviceDatabase const& database) {
  panwar::Options out;
  out.clock = panwar::clock_named(options.clock);
  if (options.clock != "usual" && options.clock != "base" && options.clock != "boost") {
    if (options.clock.find_first_of("0123456789") != 0)
      throw Error(Status::usage, fmt::format("--clock: no clock '{}'", options.clock),
                  "usual, base, boost, or hertz such as 1.4e9");
    out.clock_hz = cli::positive_number(options.clock, "--clock");
  }
  out.launch_cost = device::launch_cost_named(options.launch_delay          ? "device"
                                              : options.launch_cost.empty() ? "0"
                                                                            : options.launch_cost,
                                              database);
  return out;
}

queue::Options queue_options(ProjectRows const& options, panwar::Options const& common,
                             device::DeviceDatabase& database) {
  queue::Options out;
  out.common = common;
  out.has_launch_cost = options.launch_delay || !options.launch_cost.empty();
  using queue::Caches;
  out.caches = options.caches == "cold" ? Caches::cold : options.caches == "warm" ? Caches::warm : Caches::program;
  if (options.launches == "back-to-back") out.launches = queue::Launches::back_to_back;
  if (options.launches == "graph") out.launches = queue::Launches::graph;
  for (auto const& text : options.constants) {
    auto const equals = text.find('=');
    auto const name = text.substr(0, equals);
    auto const at = name.find('@');
    auto const* const found = record::queue_constant(name.substr(0, at));
    bool const reads = equals != std::string::npos && found;
    double const value = reads ? cli::positive_number(text.substr(equals + 1), "--constant") : 0;
    if (reads && at == std::string::npos)
      out.constants.*found->value = value;
    else if (!reads || !database.set_constant(name.substr(at + 1), found->name, value))
      throw Error(Status::usage, fmt::format("--constant: no constant '{}'", name),
                  "NAME=VALUE, or NAME@TARGET=VALUE; perfcast --constants lists them");
  }
  if (!options.launch_cost.empty())  // devices that it does not name keep the constant
    out.common.launch_cost =
        device::launch_cost_named(options.launch_cost, database, {.of_host = out.constants.launch_s, .of = {}});
  return out;
}

void list_constants(device::DeviceDatabase const& database, cli::Streams& io) {
  auto out = io.writer<record::Constant>();
  for (auto const& c : record::queue_constants) {
    out.write({std::string(c.name), "", record::QueueConstants{}.*c.value, std::string(c.unit), std::string(c.source)});
    for (auto const& own : database.constants())
      if (own.constant == c.name) out.write({own.constant, own.target, own.value, std::string(c.unit), own.source});
  }
  out.finish();
}

// Whether the row is the same launch as those before it: counted for another target, or a variant that runs elsewhere,
// which may have other sizes.
bool is_other_target(std::vector<record::Kernel> const& same, record::Kernel const& row) {
  auto const sizes = [](record::Kernel const& k) {
    return std::tie(k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z);
  };
  auto const& front = same.front();
  return front.kernel == row.kernel && front.case_name == row.case_name &&
         std::ranges::none_of(same, [&](auto const& other) {
           return other.runs_on == row.runs_on && (other.target == row.target || sizes(other) != sizes(row));
         });
}

// Of the variants that run on the device, its own before those of all devices: the row counted for its target, else the
// one without a target, else the first, as what is not of the machine code is the same.
std::size_t row_for(std::vector<record::Kernel> const& same, device::Device const& device) {
  std::size_t best = 0;
  int most = -1;
  for (std::size_t i = 0; i < same.size(); ++i) {
    auto const& row = same[i];
    int const fits =
        (device::runs_on(row.runs_on, device) ? row.runs_on.empty() ? 4 : 8 : 0) + (row.target == device.target ? 2
                                                                                    : row.target.empty()        ? 1
                                                                                                                : 0);
    if (fits > most) best = i, most = fits;
  }
  return best;
}

using Rows = std::vector<record::Kernel>;  // of one launch, by target

// A device as it is projected onto.
struct Target {
  device::Device const* device;
  queue::Options options;
};

template <class Write>
void project(Rows const& same, std::vector<Target> const& targets, queue::Terms& terms, Write const& write) {
  std::vector<queue::Kernel> const ready(same.begin(), same.end());
  for (auto const& [device, with] : targets) {
    auto const row = row_for(same, *device);
    if (device::is_for_others(same[row].runs_on, *device)) continue;
    ready[row].explain(*device, with, terms);
    write(terms);
  }
}

// Launches that are projected on several threads, while the next ones are read, and written as CSV in their order: so
// many at a time that a thread's start is little of its work and a pipe does not wait for long.
class Batches {
 public:
  Batches(std::vector<Target> const& targets, std::size_t threads, record::PassingWriter<record::Projection>& out)
      : targets_(targets), threads_(threads), out_(out) {}

  void add(Rows const& same, std::vector<std::string> cells) {
    read_.push_back({same, std::move(cells), {}, 0});
    if (read_.size() == 16 * threads_) start();
  }
  void finish() {
    start();
    write();
  }

 private:
  struct Launch {
    Rows rows;
    std::vector<std::string> cells;  // that are passed through
    std::string lines;
    std::uint64_t written;
  };

  void start() {
    write();
    if (read_.empty()) return;
    names_ = out_.names();
    running_.swap(read_);
    next_ = 0;
    for (std::size_t i = 1; i < std::min(threads_, running_.size());
         ++i)  // where there is none to be had, write() works
      helpers_.push_back(std::async(std::launch::async | std::launch::deferred, [this] { work(); }));
  }
  void write() {
    work();
    for (auto& helper : std::exchange(helpers_, {})) helper.get();
    for (auto const& launch : running_) out_.write_lines(launch.lines, launch.written);
    running_.clear();
  }
  void work() {
    queue::Terms terms;
    for (std::size_t i; (i = next_++) < running_.size();) project_one(running_[i], terms);
  }
  void project_one(Launch& launch, queue::Terms& terms) const {
    std::ostringstream text;
    record::Writer<record::Projection> lines(text, record::Format::csv, &launch.written, names_);
    lines.leave_out_header();
    launch.cells.resize(names_.size());
    project(launch.rows, targets_, terms, [&](auto const& of) { lines.write(of.projection, launch.cells); });
    launch.lines = std::move(text).str();
  }

  std::vector<Target> const& targets_;
  std::size_t threads_;
  record::PassingWriter<record::Projection>& out_;
  std::vector<std::string> names_;  // of the columns that are passed through
  std::vector<Launch> read_, running_;
  std::atomic<std::size_t> next_{0};        // of running_
  std::vector<std::future<void>> helpers_;  // the last: they end before what they work on
};

std::string said(char const* what, std::optional<OwnFigure> const& figure, char const* unit) {
  return figure ? fmt::format("; {} {:.3g} {} from {} times", what, figure->value, unit, figure->times) : "";
}

// The devices of which `path` has times, as those say that they are; in `kept`.
void learn(std::string const& path, std::vector<Rows> const& launches, device::DeviceDatabase const& database,
           std::vector<Target>& targets, std::vector<OwnDevice>& kept, cli::Streams& io) {
  std::map<std::string, std::vector<record::Measured>> measured;  // by device
  auto csv = io.csv(path);
  record::Reader<record::Measured> rows(csv);
  std::size_t unknown = 0, others = 0;
  for (record::Measured m; rows.next(m);) {
    if (!m.time_s) continue;
    if (!(*m.time_s > 0)) throw rows.error("time_s", "a time must be above 0", "an unknown time is an empty cell");
    try {
      measured[database.find(m.device).device].push_back(m);
    } catch (Error const& error) {
      if (error.status() != Status::unavailable) throw;
      ++unknown;
    }
  }
  kept.reserve(targets.size());
  for (auto& target : targets) {
    std::vector<OwnTime> times;
    for (auto const& m : measured[target.device->device]) {
      auto const launch = std::find_if(launches.begin(), launches.end(), [&](Rows const& same) {
        return same.front().kernel == m.kernel && same.front().case_name == m.case_name;
      });
      if (launch == launches.end())
        ++others;
      else if (auto const& row = (*launch)[row_for(*launch, *target.device)];
               !device::is_for_others(row.runs_on, *target.device))
        times.push_back({&row, *m.time_s});
    }
    if (times.empty()) continue;
    auto const& own = kept.emplace_back(learn(*target.device, times, target.options));
    io.note(fmt::format("{}: {} times{}{}{}{}", own.device.device, times.size(), said("a launch", own.launch_s, "s"),
                        said("memory", own.bandwidth_bytes_per_s, "B/s"), said("clock", own.clock_hz, "Hz"),
                        own.kernels > 0 ? fmt::format("; intervals from {} kernels", own.kernels) : ""));
    target = {&own.device, own.options};
  }
  if (unknown + others > 0)
    io.note(fmt::format("measured times of other devices or kernels, left out: {}", unknown + others));
  if (kept.empty())
    throw Error(Status::bad_data, Where{path}, "no time is of a kernel and a device that are projected",
                "columns kernel, case and device must be those of the projection");
}

}  // namespace

void project_rows(ProjectRows const& options, cli::Streams& io) {
  // With the columns of the user's own that a kernel's row has, such as the parameters of a sweep.
  record::PassingWriter<record::Projection> projections(
      [&](auto names) { return io.writer<record::Projection>(std::move(names)); });
  auto database = device::load(device::find_database(options.devdb),
                               options.doubtful ? device::Trust::doubtful : device::Trust::ok);
  if (options.constants_only) return list_constants(database, io);
  auto const devices = database.choose(options.devices, device::is_gpu);
  auto const model = model_options(options, database);
  auto const format = options.explain && options.app->count("--format") == 0 ? record::Format::table : io.format();
  auto const each_rows = [&](auto const& write) {  // rows of one launch, by target
    for (auto const& path : io.inputs()) {
      auto csv = io.csv(path);
      record::Reader<record::Kernel> rows(csv);
      if (options.calibrate.empty()) projections.begin(rows);
      std::vector<record::Kernel> same;
      auto const flush = [&] {
        if (!same.empty()) write(same);
        same.clear();
      };
      auto const next = [&](record::Kernel& kernel) {
        try {
          if (!rows.next(kernel)) return false;
          queue::Kernel::check(rows, kernel);
          return true;
        } catch (Error const&) {
          flush();  // what precedes a bad row is projected
          throw;
        }
      };
      for (record::Kernel kernel; next(kernel); kernel = {}) {
        if (!same.empty() && !is_other_target(same, kernel)) flush();
        if (same.empty() && options.calibrate.empty()) projections.of(rows);
        same.push_back(std::move(kernel));
      }
      flush();
    }
  };
  if (!options.calibrate.empty() && options.model != "queue")
    throw Error(Status::usage, "--calibrate: only the queue learns from times", "leave out --model");
  if (options.explain && options.model == "trivial")
    throw Error(Status::usage, "--explain: these models have no terms", "leave out --model");
  if (options.model == "queue") {
    auto const queue = queue_options(options, model, database);
    queue::Terms terms;
    std::vector<Target> targets;
    for (auto const* const device : devices) targets.push_back({device, queue});
    std::vector<Rows> launches;  // all of them, to learn from
    std::vector<OwnDevice> own;
    if (!options.calibrate.empty()) {
      each_rows([&](Rows const& same) { launches.push_back(same); });
      learn(options.calibrate, launches, database, targets, own, io);
    }
    if (!options.explain && format == record::Format::csv && options.calibrate.empty()) {
      Batches batches(targets, io.threads(), projections);
      try {
        each_rows([&](Rows const& same) { batches.add(same, projections.cells()); });
      } catch (Error const&) {
        batches.finish();  // what precedes a bad row
        throw;
      }
      batches.finish();
      return projections.finish();
    }
    auto const each_projection = [&](auto const& write) {
      auto const with_terms = [&](Rows const& same) { project(same, targets, terms, write); };
      if (options.calibrate.empty()) return each_rows(with_terms);
      for (auto const& same : launches) with_terms(same);
    };
    if (options.explain) {
      record::Writer<record::Stations> out(io.output(), format);
      each_projection([&](auto const& of) { out.write(queue::explanation(of)); });
      return out.finish();
    }
    each_projection([&](auto const& of) { projections.write(of.projection); });
    return projections.finish();
  }
  auto const each_row = [&](auto const& write) {
    each_rows([&](std::vector<record::Kernel> const& same) {
      for (auto const* const device : devices)
        if (auto const& row = same[row_for(same, *device)]; !device::is_for_others(row.runs_on, *device))
          write(row, *device);
    });
  };
  if (options.explain) {
    record::Writer<record::Explanation> out(io.output(), format);
    each_row([&](auto const& kernel, auto const& device) {
      out.write(panwar::explanation(panwar::explain(kernel, device, model)));
    });
    return out.finish();
  }
  panwar::Terms terms;
  each_row([&](auto const& kernel, auto const& device) {
    if (options.model == "panwar") {
      panwar::explain(kernel, device, model, terms, terms.projection);
      return projections.write(terms.projection);
    }
    for (auto const& projection : trivial::project(kernel, device)) projections.write(projection);
  });
  projections.finish();
}

}  // namespace kernelcast::model
