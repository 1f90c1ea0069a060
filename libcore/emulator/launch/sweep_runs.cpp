#include "emulator/launch/sweep_runs.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <filesystem>
#include <future>
#include <list>
#include <map>
#include <semaphore>

#include <fmt/format.h>

#include "records/cli/shard.hpp"
#include "records/trace.hpp"

namespace kernelcast::launch {

namespace {

std::vector<std::string> names_of(bool timing, record::Labels const& labels) {
  auto out = labels.names;
  if (timing) out.insert(out.begin(), "emulation_s");
  return out;
}

Points read_points(std::string const& path, cli::Streams& io) {
  auto csv = io.csv(path);
  Points out{csv.header(), {}};
  while (csv.next()) {
    auto& values = out.values.emplace_back();
    for (std::size_t i = 0; i < out.names.size(); ++i) values.emplace_back(csv[i]);
  }
  return out;
}

// The parameters of the sweep that become columns, by their places in a point: all whose names no column of the record
// and no label has.
std::vector<std::size_t> add_parameters(record::Labels& labels, std::vector<std::string> const& point) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < point.size(); ++i) {
    auto const parameter = record::named_value(point[i]);
    if (labels.taken<record::Kernel>(parameter.name)) continue;
    labels.add(parameter);
    out.push_back(i);
  }
  return out;
}

}  // namespace

void declare_sweep(cli::Tool& tool, SweepCommand& command) {
  auto& app = tool.app();
  tool.list("--label", command.labels,
            "a column of your own, behind the others, which perfcast, akemu and rank pass on", "NAME=VALUE")
      ->excludes(app.get_option("--attach"));
  auto* const points = app.add_option("--points", command.points,
                                      "run a launch file once for each row of this table, whose columns are its "
                                      "parameters, instead of for each point of its [sweep]")
                           ->type_name("FILE");
  cli::Shard::declare(tool, command.shard);
  app.add_option("--resume", command.resume,
                 "take the rows of points that are in this file from there, and run only the others; the file was made "
                 "with the same options, and may be that of --output, which need not be there yet")
      ->type_name("FILE")
      ->excludes(app.get_option("--timing"));
  for (char const* const other : {"--attach", "--dump", "--check"}) points->excludes(app.get_option(other));
}

record::Labels labels_of(SweepCommand const& command) {
  record::Labels out;
  for (auto const& text : command.labels) {
    auto const label = record::named_value(text);
    if (label.name.size() == text.size() || label.name.empty())
      throw Error(Status::usage, fmt::format("--label: '{}' is not NAME=VALUE", text), "--label compiler=clang-19");
    if (out.taken<record::Kernel>(label.name) || out.taken<record::Trace>(label.name))
      throw Error(Status::usage, fmt::format("--label: there is a column '{}' already", label.name),
                  "choose another name");
    out.add(label);
  }
  return out;
}

KernelRows::KernelRows(bool timing, record::Labels labels, cli::Streams& io)
    : timing_(timing), labels_(std::move(labels)), out_(io.writer<record::Kernel>(names_of(timing, labels_))) {}

void KernelRows::write(record::Kernel const& row, double emulation_s, std::vector<std::string> const& last) {
  auto cells = labels_.values;
  std::ranges::copy(last, cells.end() - static_cast<std::ptrdiff_t>(last.size()));
  if (timing_) cells.insert(cells.begin(), record::number_text(emulation_s));
  out_.write(row, cells);
}

void KernelRows::write(Report const& report, std::vector<std::string> const& last) {
  for (std::size_t i = 0; i < report.rows.size(); ++i) write(report.rows[i], report.emulation_s[i], last);
}

Done read_done(std::string const& path, cli::Streams& io) {
  Done out;
  if (path.empty()) return out;
  // The output may be still to come.
  if (std::error_code error; io.would_replace(path) && (std::filesystem::file_size(path, error) == 0 || error))
    return out;
  auto csv = io.csv_of_interrupted(path);
  record::Reader<record::Kernel> rows(csv);
  std::string last;
  for (record::Kernel row; rows.next(row);) out[last = row.case_name].push_back(row);
  out.erase(last);
  return out;
}

std::optional<Sweep> sweep_of(SweepCommand const& command, Options const& launch, cli::Streams& io) {
  if (command.points.empty()) return launch::sweep_of(launch);
  auto const table = read_points(command.points, io);
  return launch::sweep_of(launch, &table);
}

namespace {

// Runs points side by side, and gives their reports in the order of the points.
class PointRuns {
 public:
  // Each with its part of the threads of `choice`; one after the other where `alone`.
  PointRuns(RunOptions const& choice, std::size_t points, bool alone)
      : choice_(choice),
        print_(choice.print),
        at_once_(alone ? 1 : std::clamp<std::size_t>(points, 1, std::max(choice.threads, 1u))),
        free_(static_cast<std::ptrdiff_t>(at_once_)) {
    choice_.threads = std::max<unsigned>(1, choice.threads / static_cast<unsigned>(at_once_));
    choice_.limits.stop = &stop_;
  }
  PointRuns(PointRuns const&) = delete;
  PointRuns& operator=(PointRuns const&) = delete;
  ~PointRuns() { stop_ = 1; }  // what still runs is not asked for: it soon ends

  std::size_t window() const { return at_once_ == 1 ? 1 : 8 * at_once_; }  // so that a slow point holds up no other
  bool empty() const { return runs_.empty(); }
  std::size_t size() const { return runs_.size(); }

  void start(Plan plan) {
    auto& run = runs_.emplace_back();
    auto work = [this, &printed = run.printed, plan = std::move(plan)]() mutable {
      free_.acquire();
      Release const release{free_};
      auto choice = choice_;
      choice.print = [&](std::string_view text) { printed += text; };
      return launch::run(std::move(plan), choice);
    };
    // Deferred: on this thread, where the system refuses another one.
    run.report =
        std::async(at_once_ == 1 ? std::launch::deferred : std::launch::async | std::launch::deferred, std::move(work));
  }
  // Of the first that was started and not asked for yet. Throws what its run has thrown.
  Report next() {
    auto& first = runs_.front();
    first.report.wait();
    if (print_) print_(first.printed);
    auto report = std::move(first.report);
    runs_.pop_front();
    return report.get();
  }

 private:
  struct Release {
    std::counting_semaphore<>& free;
    ~Release() { free.release(); }
  };
  struct Run {
    std::string printed;
    std::future<Report> report;
  };

  RunOptions choice_;
  std::function<void(std::string_view)> print_;
  std::size_t at_once_;
  std::counting_semaphore<> free_;
  std::atomic<int> stop_{0};
  std::list<Run> runs_;  // the last member: its runs end before what they use does
};

// Behind each row of the launch file those of its variants, which stand for it under its name. Without variants there
// is one report.
void write_variants(KernelRows& out, std::vector<Report> const& reports, Sweep const& sweep,
                    std::vector<std::string> const& values, std::string const& path) {
  auto const& file = reports.front().rows;
  for (std::size_t v = 1; v < reports.size(); ++v)
    if (auto const n = reports[v].rows.size(); n != file.size())
      throw Error(Status::bad_data, Where{path},
                  fmt::format("variant {} launches {} configurations of kernels, the file {}",
                              sweep.variants[v - 1].target, n, file.size()),
                  "a variant's stand for those of the file, one for one");
  for (std::size_t i = 0; i < file.size(); ++i)
    for (auto const& report : reports) {
      auto row = report.rows[i];
      row.kernel = file[i].kernel;
      out.write(row, report.emulation_s[i], values);
    }
}

// What is written of a point: rows that were known, or the report of its run.
struct Pending {
  std::string name;
  std::vector<std::string> values;  // of the sweep's parameters
  std::vector<record::Kernel> const* known = nullptr;
};

}  // namespace

Status run_sweep(SweepCommand const& command, Sweep const& sweep, Options const& launch, RunOptions const& choice,
                 bool timing, std::function<void(Report const&)> const& note, cli::Streams& io) {
  if (choice.emit != Emit::kernel)
    throw Error(Status::usage, "a sweep writes kernel rows", "leave out --emit, or choose one point with --set");
  if (!choice.dumps.empty() || !choice.checks.empty())
    throw Error(Status::usage, "--dump and --check are for one run", "choose one point of the sweep with --set");
  auto const done = read_done(command.resume, io);
  auto const& points = sweep.points;
  auto labels = labels_of(command);
  auto const columns = add_parameters(labels, points.front());
  KernelRows out(timing, std::move(labels), io);
  cli::Shard shard(command.shard);
  std::map<std::string, std::size_t> cases;
  std::deque<Pending> pending;
  PointRuns runs(choice, points.size() * (1 + sweep.variants.size()), timing);
  std::size_t known = 0;
  Status status = Status::done;
  using Words = std::vector<std::string>;
  auto const plan_with = [&](std::initializer_list<Words const*> further) {
    auto with = launch;
    auto& sets = with.line.sets;
    for (auto const* const words : further) sets.insert(sets.end(), words->begin(), words->end());
    return plan_of(with);
  };
  auto const plan_at = [&](std::size_t p) {
    auto plan = plan_with({&points[p]});
    if (cases.empty()) note_inputs(launch, plan, io);
    auto const& name = plan.case_name;
    if (auto const [at, is_new] = cases.emplace(name, p); !is_new)
      throw Error(Status::bad_data, Where{launch.line.path},
                  fmt::format("points {} and {} of the sweep have the same case '{}'", at->second + 1, p + 1, name),
                  "name in `case` every parameter that the sweep varies");
    return plan;
  };
  auto const write_next = [&] {
    auto const point = std::move(pending.front());
    pending.pop_front();
    if (point.known) {
      for (auto const& row : *point.known) out.write(row, 0, point.values);
      ++known;
    } else {
      try {
        std::vector<Report> reports;
        for (std::size_t i = 0; i <= sweep.variants.size(); ++i) {
          auto const& report = reports.emplace_back(runs.next());
          note(report);
          if (report.finding) status = io.complain(*report.finding);
        }
        write_variants(out, reports, sweep, point.values, launch.line.path);
      } catch (Error const&) {
        io.note(fmt::format("at {}:", point.name));
        throw;
      }
    }
    // An interruption loses nothing, neither this point nor what else is in the file that is resumed: its points that
    // are still to be written, and rows of the one that is run again.
    bool const loses = (point.known || known < done.size()) && io.would_replace(command.resume);
    if (io.to_standard_output())
      io.output().flush();
    else if (io.format() == record::Format::csv && !loses)
      io.publish();
  };
  for (std::size_t p = 0; p < points.size(); ++p) {
    if (!shard.takes_next()) continue;
    io.progress(fmt::format("point {} of {}", p + 1, points.size()));
    std::vector<Plan> plans;
    try {
      plans.push_back(plan_at(p));
      for (auto const& variant : sweep.variants) {
        auto& plan = plans.emplace_back(plan_with({&points[p], &variant.sets}));
        plan.case_name = plans.front().case_name;
        plan.runs_on = variant.target;
      }
    } catch (Error const&) {
      while (!pending.empty()) write_next();
      throw;
    }
    std::string const name = plans.front().case_name;
    auto& point = pending.emplace_back(name);
    for (auto const i : columns) point.values.emplace_back(record::named_value(points[p][i]).value);
    if (auto const found = done.find(name); found != done.end())
      point.known = &found->second;
    else
      for (auto& plan : plans) runs.start(std::move(plan));
    while (!pending.empty() && (pending.front().known || runs.size() >= runs.window())) write_next();
  }
  while (!pending.empty()) write_next();
  out.finish();
  return status;
}

}  // namespace kernelcast::launch
