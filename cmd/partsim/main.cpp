// partsim: what an application takes when it is divided over the GPUs of a system, and how to divide it.
#include <memory>

#include "models/graph/runs.hpp"
#include "records/cli/shard.hpp"
#include "records/cli/values.hpp"
#include "records/link.hpp"
#include "records/projection.hpp"
#include "records/simulation.hpp"

using namespace kernelcast;

namespace {

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<graph::RunOptions>();
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
  tool.run([options](cli::Streams& io) { graph::run(*options, io); });
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
