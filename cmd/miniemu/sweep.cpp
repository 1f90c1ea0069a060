#include "sweep.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "cli/shard.hpp"

namespace kernelcast::miniemu {

namespace {

std::vector<std::string> names_of(bool timing, record::Labels const& labels) {
  auto out = labels.names;
  if (timing) out.insert(out.begin(), "emulation_s");
  return out;
}

launch::Points read_points(std::string const& path, cli::Streams& io) {
  auto csv = io.csv(path);
  launch::Points out{csv.header(), {}};
  while (csv.next()) {
    auto& values = out.values.emplace_back();
    for (std::size_t i = 0; i < out.names.size(); ++i) values.emplace_back(csv[i]);
  }
  return out;
}

using Done = std::map<std::string, std::vector<record::Kernel>>;

// The rows of each case of an interrupted run. Those of its last case are perhaps not all.
Done read_done(std::string const& path, cli::Streams& io) {
  Done out;
  if (path.empty()) return out;
  auto csv = io.csv_of_interrupted(path);
  record::Reader<record::Kernel> rows(csv);
  std::string last;
  for (record::Kernel row; rows.next(row);) out[last = row.case_name].push_back(row);
  out.erase(last);
  return out;
}

// The parameters of the sweep that are columns, by their places in a point: but for those that are called as a column
// of the record, or a label, is.
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
  tool.list("--label", command.labels, "a column of your own, behind the others, which perfcast and rank pass on",
            "NAME=VALUE")
      ->excludes(app.get_option("--attach"));
  auto* const points = app.add_option("--points", command.points,
                                      "run a launch file once for each row of this table, whose columns are its "
                                      "parameters, instead of for each point of its [sweep]")
                           ->type_name("FILE");
  cli::Shard::declare(tool, command.shard);
  app.add_option("--resume", command.resume,
                 "take the rows of points that are in this file from there, and run only the others; the file was made "
                 "with the same options, and may be that of --output")
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
    if (out.taken<record::Kernel>(label.name))
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

void KernelRows::write(launch::Report const& report, std::vector<std::string> const& last) {
  for (std::size_t i = 0; i < report.rows.size(); ++i) write(report.rows[i], report.emulation_s[i], last);
}

std::optional<launch::SweepPoints> sweep_of(SweepCommand const& command, launch::Options const& launch,
                                            cli::Streams& io) {
  if (command.points.empty()) return launch::sweep_of(launch);
  auto const table = read_points(command.points, io);
  return launch::sweep_of(launch, &table);
}

Status run_sweep(SweepCommand const& command, launch::SweepPoints const& points, launch::Options const& launch,
                 launch::RunOptions const& choice, bool timing, bool registers,
                 std::function<void(launch::Report const&)> const& note, cli::Streams& io) {
  if (choice.emit != launch::Emit::kernel)
    throw Error(Status::usage, "a sweep writes kernel rows", "leave out --emit, or choose one point with --set");
  if (!choice.dumps.empty() || !choice.checks.empty())
    throw Error(Status::usage, "--dump and --check are for one run", "choose one point of the sweep with --set");
  auto const done = read_done(command.resume, io);
  auto labels = labels_of(command);
  auto const columns = add_parameters(labels, points.front());
  KernelRows out(timing, std::move(labels), io);
  cli::Shard shard(command.shard);
  std::map<std::string, std::size_t> cases;
  std::size_t known = 0;
  Status status = Status::done;
  for (std::size_t p = 0; p < points.size(); ++p) {
    if (!shard.takes_next()) continue;
    io.progress(fmt::format("point {} of {}", p + 1, points.size()));
    auto at_point = launch;
    auto& sets = at_point.line.sets;
    sets.insert(sets.end(), points[p].begin(), points[p].end());
    auto plan = launch::plan_of(at_point);
    plan.request.registers = registers;
    if (cases.empty()) launch::note_inputs(launch, plan, io);
    std::string const name = plan.case_name;
    if (auto const [at, is_new] = cases.emplace(name, p); !is_new)
      throw Error(Status::bad_data, Where{launch.line.path},
                  fmt::format("points {} and {} of the sweep have the same case '{}'", at->second + 1, p + 1, name),
                  "name in `case` every parameter that the sweep varies");
    std::vector<std::string> values;
    for (auto const i : columns) values.emplace_back(record::named_value(points[p][i]).value);
    if (auto const found = done.find(name); found != done.end()) {
      for (auto const& row : found->second) out.write(row, 0, values);
      ++known;
    } else {
      try {
        auto const report = launch::run(std::move(plan), choice);
        note(report);
        out.write(report, values);
        if (report.finding) status = io.complain(*report.finding);
      } catch (Error const&) {
        io.note(fmt::format("at {}:", name));
        throw;
      }
    }
    // An interruption loses nothing, neither this point nor those that come from the same file and are still to be
    // written.
    if (io.to_standard_output())
      io.output().flush();
    else if (io.format() == record::Format::csv && !(known < done.size() && io.would_replace(command.resume)))
      io.publish();
  }
  out.finish();
  return status;
}

}  // namespace kernelcast::miniemu
