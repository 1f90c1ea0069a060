#include "models/graph/runs.hpp"

#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/graph/graph_file.hpp"
#include "models/graph/kernel_parts.hpp"
#include "models/graph/report.hpp"
#include "models/graph/system_file.hpp"
#include "records/cli/shard.hpp"
#include "records/link.hpp"

namespace kernelcast::graph {

namespace {

// What the options name, read once.
struct Inputs {
  std::string devdb;
  device::DeviceDatabase database;
  std::vector<Application> apps;
  std::vector<Interconnect> systems;
  ProjectedTimes times;
};

Inputs read(RunOptions const& options, cli::Streams& io) {
  Inputs in;
  in.devdb = device::find_database(options.devdb);
  in.database = device::load(in.devdb);
  for (auto const& name : options.apps) {
    auto const path = find_file(in.devdb, "applications", ".toml", name, "--app");
    in.apps.push_back(read_application(path));
    io.note_input_file(path);
  }
  for (auto const& name : options.systems) {
    auto const path = find_file(in.devdb, "systems", ".csv", name, "--system");
    in.systems.push_back(read_system_file(path, io.input(path)));
  }
  for (auto const& path : options.times) {
    auto csv = io.csv(path);
    record::Reader<record::Projection> rows(csv);
    for (record::Projection row; rows.next(row);) {
      if (row.time_s && !(*row.time_s > 0)) throw rows.error("time_s", "a time must be above 0", "unknown: empty");
      row.device = in.database.find(row.device).device;
      in.times.add(row);
    }
  }
  return in;
}

// The GPU with its cores at the clock that was asked for; its memory stays as it is.
device::Device at_clock(device::Device gpu, std::optional<double> clock_hz) {
  if (!clock_hz) return gpu;
  if (!gpu.clock_hz)
    throw Error(Status::unavailable, fmt::format("the device database does not say the clock of a '{}'", gpu.device),
                "without it peaks cannot be scaled: add the figure to your copy of the database");
  double const factor = *clock_hz / *gpu.clock_hz;
  for (auto* const rate : {&gpu.peak_fp32_flop_per_s, &gpu.peak_fp64_flop_per_s})
    if (*rate) **rate *= factor;
  gpu.clock_hz = clock_hz;
  return gpu;
}

bool searches_kernel_gpus(RunOptions const& options) {
  return options.kernel_gpus == std::vector<std::string>{"auto"};
}

void set_kernel_gpus(RunOptions const& options, Study& study) {
  if (options.kernel_gpus.empty()) return;
  if (!study.recorded())
    throw Error(Status::usage, "--kernel-gpus needs a recorded program: this graph is divided already",
                "miniemu --attach --emit graph records one");
  if (!searches_kernel_gpus(options)) study.set_kernel_parts(kernel_parts(options.kernel_gpus, study.kernels()));
}

// Calls `visit(study, gpu)` for each application (or the graph), GPU and system.
template <class Visit>
void each_study(RunOptions const& options, Inputs const& in, cli::Streams& io, Visit visit) {
  for (auto const& system : in.systems)
    for (auto const& name : options.gpus_models) {
      auto const gpu = at_clock(in.database.find(name), options.clock_hz);
      auto const simulation = simulation_options(options, gpu);
      auto const* const times = in.times.empty() ? nullptr : &in.times;
      if (!options.graph.empty()) {
        auto file = read_graph_file(options.graph, io.input(options.graph));
        auto study = file.recording ? Study(std::move(*file.recording), system, gpu, simulation, times)
                                    : Study(std::move(file.graph), system, gpu, simulation, times);
        set_kernel_gpus(options, study);
        visit(study, gpu.device);
      }
      for (auto const& app : in.apps) {
        Study study(app, system, gpu, simulation, options.iterations, times);
        visit(study, gpu.device);
      }
    }
}

// The sizes of a study; a graph from a file has one, which is not known.
std::vector<double> sizes(RunOptions const& options, Study const& study) {
  return study.from_file() ? std::vector<double>{0} : graph::sizes(options.sizes);
}

// The points of a study: sizes and numbers of GPUs; a graph from a file that cannot be divided is one point.
template <class Visit>
void each_point(RunOptions const& options, Study& study, Visit visit) {
  if (!study.divisible()) {
    auto const& g = study.graph(0, 1, 1);
    return visit(g.n, g.parts);
  }
  auto const counts = gpu_counts(options.gpu_counts, study.system().gpu_count());
  for (double const n : sizes(options, study))
    for (auto const parts : counts) visit(n, parts);
}

void write_timeline(RunOptions const& options, Study& study, double n, std::uint32_t parts, Placement const& placement,
                    std::vector<Event> const& events) {
  std::ofstream out(options.timeline, std::ios::binary);
  write_timeline(out, study.graph(n, parts, study.iterations()), events, placement, study.system());
  out.flush();
  if (!out) throw Error(Status::io, Where{options.timeline, 0, 0}, "cannot write the timeline", "is the folder there?");
}

DonePoints read_done(RunOptions const& options, cli::Streams& io) {
  DonePoints done;
  if (options.resume.empty()) return done;
  auto csv = io.csv_of_interrupted(options.resume);
  record::Reader<record::Simulation> rows(csv);
  for (record::Simulation row; rows.next(row);) done.add(row);
  return done;
}

void sweep(RunOptions const& options, Inputs const& in, cli::Streams& io) {
  auto const done = read_done(options, io);
  auto out = io.writer<record::Simulation>();
  std::size_t known_rows = 0;
  auto const write = [&](record::Simulation const& row, bool is_known = false) {
    out.write(row);
    known_rows += is_known;
    // An interruption loses nothing, neither this row nor those that come from the same file and are still to be
    // written.
    bool const loses = known_rows < done.size() && io.would_replace(options.resume);
    if (io.format() == record::Format::csv && !io.to_standard_output() && !loses) io.publish();
  };
  cli::Shard shard(options.shard);
  bool drawn = false;
  each_study(options, in, io, [&](Study& study, std::string const& gpu) {
    for (auto const& buffer : host_buffers(options.host_buffers, study.system(), false))
      each_point(options, study, [&](double n, std::uint32_t parts) {
        if (!shard.takes_next()) return;
        if (searches_kernel_gpus(options))
          study.set_kernel_parts({});  // what the last point has found is not this one's
        auto const reason = study.infeasible(n, parts);
        Placement placement;
        if (reason.empty()) placement = study.placement(map_of(options.maps, study.system(), parts), buffer);
        std::string kernel_gpus;
        for (auto const& text : options.kernel_gpus)
          if (!searches_kernel_gpus(options)) kernel_gpus += (kernel_gpus.empty() ? "" : ";") + text;
        auto const row = [&](SimulationResult const* result) {
          auto out = simulation(study, n, parts, gpu, options.alloc, placement, buffer, result, reason);
          out.clock_hz = options.clock_hz;
          out.kernel_gpus = kernel_gpus;
          return out;
        };
        auto const point = row(nullptr);
        if (auto const* const known = done.find(point)) return write(*known, true);
        if (!reason.empty()) return write(point);
        if (searches_kernel_gpus(options)) kernel_gpus = text_of(choose_kernel_parts(study, n, parts, placement));
        std::vector<Event> events;
        bool const draw = !options.timeline.empty();
        auto const result = study.simulate(n, parts, placement, draw || options.every_iteration ? &events : nullptr);
        write(row(&result));
        if (draw && std::exchange(drawn, true))
          throw Error(Status::usage, "--timeline draws one run, and there are several", "one size, one number of GPUs");
        if (draw) write_timeline(options, study, n, parts, placement, events);
      });
  });
  out.finish();
}

void choose(RunOptions const& options, Inputs const& in, cli::Streams& io) {
  bool const detail = options.emit == "sensitivity";
  std::vector<record::Choice> choices;
  std::vector<record::Sensitivity> details;
  cli::Shard shard(options.shard);
  each_study(options, in, io, [&](Study& study, std::string const& gpu) {
    ChooseOptions how;
    how.gpus = gpu_counts(options.gpu_counts, study.system().gpu_count());
    how.buffers = host_buffers(options.host_buffers, study.system(), true);
    for (double const n : sizes(options, study)) {
      if (!shard.takes_next()) continue;
      if (!study.divisible()) how.gpus = {study.graph(0, 1, 1).parts};
      auto const chosen = choose(study, n, how);
      if (chosen.best.empty())
        throw Error(Status::limit,
                    fmt::format("{} of size {} runs on no number of GPUs of {}: {}", study.app(), n,
                                study.system().name(), fmt::join(chosen.reasons, "; ")),
                    "a smaller problem, or GPUs with more memory");
      auto const sensitivities = graph::sensitivities(study, n, gpu, chosen);
      if (detail) {
        details.insert(details.end(), sensitivities.begin(), sensitivities.end());
        continue;
      }
      auto row = choice(study, n, gpu, chosen);
      row.sensitive_to = sensitive_to(sensitivities, row.gpus);
      choices.push_back(std::move(row));
    }
  });
  if (detail)
    io.write(details);
  else
    io.write(choices);
}

void write_graph(RunOptions const& options, Inputs const& in, cli::Streams& io) {
  std::size_t written = 0;
  each_study(options, in, io, [&](Study& study, std::string const& gpu) {
    each_point(options, study, [&](double n, std::uint32_t parts) {
      if (auto const reason = study.infeasible(n, parts); !reason.empty())
        throw Error(Status::bad_data, reason, "choose another size or number of GPUs");
      if (written++ > 0)
        throw Error(Status::usage, "--emit graph writes one graph, and there are several",
                    "one application, size and number of GPUs");
      auto const& g = study.graph(n, parts, study.iterations());
      write_graph(io.output(), g, study.times(g), gpu, options.emit == "dot" ? GraphFormat::dot : GraphFormat::json);
    });
  });
}

void write_systems(Inputs const& in, cli::Streams& io) {
  std::vector<record::Link> rows;
  for (auto const& system : in.systems) rows.insert(rows.end(), system.links().begin(), system.links().end());
  io.write(rows);
}

}  // namespace

void run(RunOptions const& options, cli::Streams& io) {
  if (options.systems.empty())
    throw Error(Status::usage, "which system?", "for example --system victoria, or a file of links");
  auto const in = read(options, io);
  if (options.emit == "system") return write_systems(in, io);
  if (options.apps.empty() == options.graph.empty())
    throw Error(Status::usage, options.graph.empty() ? "what is to be run?" : "--app and --graph exclude each other",
                "--app matmul, or --graph FILE");
  if (!options.kernel_gpus.empty() && !options.apps.empty())
    throw Error(Status::usage, "--kernel-gpus needs a recorded program: an application's kernels use all of its parts",
                "miniemu --attach --emit graph records one, --graph reads it");
  if (searches_kernel_gpus(options) && (options.choose || !options.emit.empty()) && options.emit != "simulation")
    throw Error(Status::usage, "--kernel-gpus auto searches for each row of the sweep, and there is none",
                "leave out --choose and --emit, or give the numbers that it found");
  if (options.gpus_models.empty()) throw Error(Status::usage, "which GPU?", "for example --gpu v100");
  if (options.emit == "graph" || options.emit == "dot") return write_graph(options, in, io);
  if (options.choose || options.emit == "sensitivity") return choose(options, in, io);
  sweep(options, in, io);
}

}  // namespace kernelcast::graph
