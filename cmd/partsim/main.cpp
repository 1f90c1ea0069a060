// partsim: what an application takes when it is divided over the GPUs of a system, and how to divide it.
#include <fstream>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/graph/graph_file.hpp"
#include "models/graph/kernel_parts.hpp"
#include "models/graph/report.hpp"
#include "models/graph/system_file.hpp"
#include "options.hpp"
#include "records/cli/shard.hpp"
#include "records/cli/values.hpp"
#include "records/link.hpp"

using namespace kernelcast;
using partsim::Options;

namespace {

// What the options name, read once.
struct Inputs {
  std::string devdb;
  device::DeviceDatabase database;
  std::vector<graph::Application> apps;
  std::vector<graph::Interconnect> systems;
  graph::ProjectedTimes times;
};

Inputs read(Options const& options, cli::Streams& io) {
  Inputs in;
  in.devdb = device::find_database(options.devdb);
  in.database = device::load(in.devdb);
  for (auto const& name : options.apps) {
    auto const path = partsim::find_file(in.devdb, "applications", ".toml", name, "--app");
    in.apps.push_back(graph::read_application(path));
    io.note_input_file(path);
  }
  for (auto const& name : options.systems) {
    auto const path = partsim::find_file(in.devdb, "systems", ".csv", name, "--system");
    in.systems.push_back(graph::read_system_file(path, io.input(path)));
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

bool searches_kernel_gpus(Options const& options) {
  return options.kernel_gpus == std::vector<std::string>{"auto"};
}

void set_kernel_gpus(Options const& options, graph::Study& study) {
  if (options.kernel_gpus.empty()) return;
  if (!study.recorded())
    throw Error(Status::usage, "--kernel-gpus needs a recorded program: this graph is divided already",
                "miniemu --attach --emit graph records one");
  if (!searches_kernel_gpus(options))
    study.set_kernel_parts(partsim::kernel_parts(options.kernel_gpus, study.kernels()));
}

// Calls `visit(study, gpu)` for each application (or the graph), GPU and system.
template <class Visit>
void each_study(Options const& options, Inputs const& in, cli::Streams& io, Visit visit) {
  for (auto const& system : in.systems)
    for (auto const& name : options.gpus_models) {
      auto const gpu = at_clock(in.database.find(name), options.clock_hz);
      auto const simulation = partsim::simulation_options(options, gpu);
      auto const* const times = in.times.empty() ? nullptr : &in.times;
      if (!options.graph.empty()) {
        auto file = graph::read_graph_file(options.graph, io.input(options.graph));
        auto study = file.recording ? graph::Study(std::move(*file.recording), system, gpu, simulation, times)
                                    : graph::Study(std::move(file.graph), system, gpu, simulation, times);
        set_kernel_gpus(options, study);
        visit(study, gpu.device);
      }
      for (auto const& app : in.apps) {
        graph::Study study(app, system, gpu, simulation, options.iterations, times);
        visit(study, gpu.device);
      }
    }
}

// The sizes of a study; a graph from a file has one, which is not known.
std::vector<double> sizes(Options const& options, graph::Study const& study) {
  return study.from_file() ? std::vector<double>{0} : partsim::sizes(options.sizes);
}

// The points of a study: sizes and numbers of GPUs; a graph from a file that cannot be divided is one point.
template <class Visit>
void each_point(Options const& options, graph::Study& study, Visit visit) {
  if (!study.divisible()) {
    auto const& g = study.graph(0, 1, 1);
    return visit(g.n, g.parts);
  }
  auto const counts = partsim::gpu_counts(options.gpu_counts, study.system().gpu_count());
  for (double const n : sizes(options, study))
    for (auto const parts : counts) visit(n, parts);
}

void write_timeline(Options const& options, graph::Study& study, double n, std::uint32_t parts,
                    graph::Placement const& placement, std::vector<graph::Event> const& events) {
  std::ofstream out(options.timeline, std::ios::binary);
  graph::write_timeline(out, study.graph(n, parts, study.iterations()), events, placement, study.system());
  out.flush();
  if (!out) throw Error(Status::io, Where{options.timeline, 0, 0}, "cannot write the timeline", "is the folder there?");
}

graph::DonePoints read_done(Options const& options, cli::Streams& io) {
  graph::DonePoints done;
  if (options.resume.empty()) return done;
  auto csv = io.csv_of_interrupted(options.resume);
  record::Reader<record::Simulation> rows(csv);
  for (record::Simulation row; rows.next(row);) done.add(row);
  return done;
}

void sweep(Options const& options, Inputs const& in, cli::Streams& io) {
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
  each_study(options, in, io, [&](graph::Study& study, std::string const& gpu) {
    for (auto const& buffer : partsim::host_buffers(options.host_buffers, study.system(), false))
      each_point(options, study, [&](double n, std::uint32_t parts) {
        if (!shard.takes_next()) return;
        if (searches_kernel_gpus(options))
          study.set_kernel_parts({});  // what the last point has found is not this one's
        auto const reason = study.infeasible(n, parts);
        graph::Placement placement;
        if (reason.empty()) placement = study.placement(partsim::map_of(options.maps, study.system(), parts), buffer);
        std::string kernel_gpus;
        for (auto const& text : options.kernel_gpus)
          if (!searches_kernel_gpus(options)) kernel_gpus += (kernel_gpus.empty() ? "" : ";") + text;
        auto const row = [&](graph::SimulationResult const* result) {
          auto out = graph::simulation(study, n, parts, gpu, options.alloc, placement, buffer, result, reason);
          out.clock_hz = options.clock_hz;
          out.kernel_gpus = kernel_gpus;
          return out;
        };
        auto const point = row(nullptr);
        if (auto const* const known = done.find(point)) return write(*known, true);
        if (!reason.empty()) return write(point);
        if (searches_kernel_gpus(options))
          kernel_gpus = partsim::text_of(graph::choose_kernel_parts(study, n, parts, placement));
        std::vector<graph::Event> events;
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

void choose(Options const& options, Inputs const& in, cli::Streams& io) {
  bool const detail = options.emit == "sensitivity";
  std::vector<record::Choice> choices;
  std::vector<record::Sensitivity> details;
  cli::Shard shard(options.shard);
  each_study(options, in, io, [&](graph::Study& study, std::string const& gpu) {
    graph::ChooseOptions how;
    how.gpus = partsim::gpu_counts(options.gpu_counts, study.system().gpu_count());
    how.buffers = partsim::host_buffers(options.host_buffers, study.system(), true);
    for (double const n : sizes(options, study)) {
      if (!shard.takes_next()) continue;
      if (!study.divisible()) how.gpus = {study.graph(0, 1, 1).parts};
      auto const chosen = graph::choose(study, n, how);
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
      auto row = graph::choice(study, n, gpu, chosen);
      row.sensitive_to = graph::sensitive_to(sensitivities, row.gpus);
      choices.push_back(std::move(row));
    }
  });
  if (detail)
    io.write(details);
  else
    io.write(choices);
}

void write_graph(Options const& options, Inputs const& in, cli::Streams& io) {
  std::size_t written = 0;
  each_study(options, in, io, [&](graph::Study& study, std::string const& gpu) {
    each_point(options, study, [&](double n, std::uint32_t parts) {
      if (auto const reason = study.infeasible(n, parts); !reason.empty())
        throw Error(Status::bad_data, reason, "choose another size or number of GPUs");
      if (written++ > 0)
        throw Error(Status::usage, "--emit graph writes one graph, and there are several",
                    "one application, size and number of GPUs");
      auto const& g = study.graph(n, parts, study.iterations());
      graph::write_graph(io.output(), g, study.times(g), gpu,
                         options.emit == "dot" ? graph::GraphFormat::dot : graph::GraphFormat::json);
    });
  });
}

void write_systems(Inputs const& in, cli::Streams& io) {
  std::vector<record::Link> rows;
  for (auto const& system : in.systems) rows.insert(rows.end(), system.links().begin(), system.links().end());
  io.write(rows);
}

void run(Options const& options, cli::Streams& io) {
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

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<Options>();
  auto& app = tool.app();
  tool.list("--app", options->apps, "application: a name in devdb/applications (matmul, stencil, nbody), or a file",
            "NAME");
  app.add_option("--graph", options->graph,
                 "a compute graph instead: JSON, or Graphviz DOT, also as cudaGraphDebugDotPrint writes it")
      ->type_name("FILE");
  tool.list("--n", options->sizes, "problem sizes: 4096, or LOW:HIGH:STEP", "SIZES");
  tool.list("--gpus", options->gpu_counts, "numbers of GPUs: 4, or 1-16 (default: all that the system has)", "COUNTS");
  tool.list("--gpu", options->gpus_models, "kind of GPU, of the device database", "DEVICE");
  tool.list("--system", options->systems,
            "system: a name in devdb/systems, or a file: links, nvidia-smi topo -m, or hwloc's XML", "NAME");
  tool.list(
      "--kernel-gpus", options->kernel_gpus,
      "of a recorded program: this kernel on so many GPUs at most; auto: for each number of GPUs, the numbers of its "
      "kernels that make the program fastest",
      "KERNEL=N|auto");
  app.add_option("--iterations", options->iterations, "iterations of the application's loop (default 100)")
      ->type_name("N")
      ->check(CLI::Range(1, 100000000));
  app.add_option("--alloc", options->alloc, "how copies share bandwidth: maxmin (default), seed, rounds")
      ->type_name("MODE")
      ->check(CLI::IsMember({"maxmin", "seed", "rounds"}));
  app.add_option("--fair", options->fair, "who gets equal shares: pairs of source and destination (default), or copies")
      ->type_name("WHO")
      ->check(CLI::IsMember({"pairs", "copies"}));
  tool.list("--host-buffer", options->host_buffers,
            "where host buffers lie: hostN, or nearest to each GPU (default host0; --choose: all)", "PLACE");
  tool.list("--map", options->maps, "GPU of each part (default 0, 1, 2, …)", "GPU");
  app.add_option("--host-overhead", options->host_overhead_s,
                 "seconds that the host's one thread takes to start each kernel and each copy (default 0; of --choose "
                 "and --emit sensitivity the GPU's launch_delay_s, or 5e-6)")
      ->type_name("SECONDS")
      ->check(cli::seconds());
  app.add_option("--launch-overhead", options->launch_overhead_s, "seconds added to each kernel (default 0)")
      ->type_name("SECONDS")
      ->check(cli::seconds());
  app.add_option("--copy-overhead", options->copy_overhead_s,
                 "seconds added to each copy, besides the latency of its links (default 0)")
      ->type_name("SECONDS")
      ->check(cli::seconds());
  app.add_option("--copy-engines", options->copy_engines,
                 "copies that a GPU sends, and receives, at a time (default 0: any number)")
      ->type_name("N");
  auto* const clock =
      app.add_option("--clock", options->clock_hz,
                     "hertz of the GPUs' cores (default: the database's); operations and shared memory follow it, "
                     "global memory and links do not")
          ->type_name("HERTZ")
          ->check(CLI::Range(1e6, 1e11));
  auto* const times =
      tool.list("--times", options->times,
                "kernel times of another model, as projection rows; the case is N, or N/G for one of G parts", "FILE");
  clock->excludes(times);  // which are of a clock of their own
  auto* const choose = app.add_flag("--choose", options->choose,
                                    "how many GPUs, which ones and where the host buffers lie, for each size");
  app.add_option("--emit", options->emit,
                 "simulation (default), sensitivity (of the choice), graph (JSON), dot, or system (the links)")
      ->type_name("WHAT")
      ->check(CLI::IsMember({"simulation", "sensitivity", "graph", "dot", "system"}));
  auto* const timeline = app.add_option("--timeline", options->timeline, "also write the run as a Chrome trace")
                             ->type_name("FILE")
                             ->excludes(choose);
  app.add_flag("--every-iteration", options->every_iteration,
               "simulate every iteration, also where they repeat (slower, same times)");
  cli::Shard::declare(tool, options->shard);
  app.add_option("--resume", options->resume,
                 "take the points of a sweep that are in this file from there, and simulate only the others; the "
                 "file was made with the same options, and may be that of --output")
      ->type_name("FILE")
      ->excludes(choose)
      ->excludes(timeline);
  cli::database_option(app, options->devdb);
  tool.run([options](cli::Streams& io) { run(*options, io); });
}

}  // namespace

int main(int argc, char** argv) {
  cli::About const about{
      .name = "partsim",
      .summary = "simulate a partitioned application on a multi-GPU system",
      .description =
          "Divides an application over the GPUs of a system and simulates its kernels and copies; the links "
          "are shared fairly. Sweeps sizes and numbers of GPUs, or chooses.",
      .operands = cli::Operands::none,
      .input = {&record::Projection::schema(), &record::Link::schema()},
      .output = {&record::Simulation::schema(), &record::Choice::schema(), &record::Sensitivity::schema(),
                 &record::Link::schema()},
      .statuses = {{Status::unavailable, "no such application, system or GPU"},
                   {Status::limit, "no number of GPUs can run the problem"}},
      .see_also = {"partfit(1)", "perdome(1)", "figure(1)"},
      .examples = {{"partsim --app matmul --n 4096:61440:4096 --gpus 1-16 --gpu v100 --system victoria", "a sweep"},
                   {"partsim --app stencil --n 16384 --gpu a100 --system dgx-a100 --choose --format table",
                    "how many GPUs, which, and where the data"},
                   {"partsim --graph step.dot --times p.csv --gpu h100 --system hgx-h100 --timeline t.json",
                    "a captured CUDA graph, drawn"}}};
  return cli::tool_main(argc, argv, about, declare);
}
