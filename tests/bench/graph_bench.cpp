// Speed of partsim's parts: allocations of bandwidth, simulations of the three applications on 16 GPUs, the choice.
#include <benchmark/benchmark.h>

#include <fstream>
#include <numeric>

#include "models/graph/choose.hpp"
#include "models/graph/system_file.hpp"

namespace {

using namespace kernelcast;

graph::Interconnect system(std::string const& name) {
  std::string const path = KERNELCAST_SOURCE_DIR "/devdb/systems/" + name + ".csv";
  std::ifstream in(path);
  return graph::read_system_file(path, in);
}

device::Device const& v100() {
  static auto const database = device::load(KERNELCAST_SOURCE_DIR "/devdb");
  return database.find("v100");
}

graph::Application const& application(int which) {
  static std::vector<graph::Application> const all = [] {
    std::vector<graph::Application> out;
    for (auto const* name : {"matmul", "stencil", "nbody"})
      out.push_back(
          graph::read_application(std::string(KERNELCAST_SOURCE_DIR "/devdb/applications/") + name + ".toml"));
    return out;
  }();
  return all[static_cast<std::size_t>(which)];
}

double size_of(int which) {
  return which == 2 ? 65536 : 16384;
}

// Every GPU sends to every other through one switch.
void all_to_all(benchmark::State& state) {
  auto const gpus = static_cast<std::size_t>(state.range(0));
  std::vector<record::Link> links{{"memory", "switch0", "host0", 1e11, {}, "shared", "", "", ""}};
  for (std::size_t g = 0; g < gpus; ++g)
    links.push_back({"nvlink" + std::to_string(g), "switch0", "gpu" + std::to_string(g), 3e11, {}, "full", "", "", ""});
  graph::Interconnect const box("box", links, std::vector<Where>(links.size()));
  std::vector<graph::Allocator::Route> routes;
  for (std::size_t a = 0; a < gpus; ++a)
    for (std::size_t b = 0; b < gpus; ++b)
      if (a != b) routes.push_back(box.route(box.pair(a, b)));
  graph::Allocator allocator;
  std::vector<double> rates;
  for (auto _ : state) {
    allocator.allocate(graph::Allocation::maxmin, box.capacities(), routes, rates);
    benchmark::DoNotOptimize(rates.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(routes.size()));
}
BENCHMARK(all_to_all)->Arg(16)->Arg(128)->Unit(benchmark::kMicrosecond);

void victoria_all_to_all(benchmark::State& state) {
  auto const box = system("victoria");
  std::vector<graph::Allocator::Route> routes;
  for (std::size_t a = 0; a < 16; ++a)
    for (std::size_t b = 0; b < 16; ++b)
      if (a != b) routes.push_back(box.route(box.pair(a, b)));
  graph::Allocator allocator;
  std::vector<double> rates;
  for (auto _ : state) {
    allocator.allocate(graph::Allocation::maxmin, box.capacities(), routes, rates);
    benchmark::DoNotOptimize(rates.data());
  }
}
BENCHMARK(victoria_all_to_all)->Unit(benchmark::kMicrosecond);

// All 100 iterations, event by event; graph and allocations of the runs before are kept.
void simulate_16_gpus(benchmark::State& state) {
  int const which = static_cast<int>(state.range(0));
  auto const box = system("victoria");
  std::string misfit;
  auto const g = application(which).graph(size_of(which), 16, 100, misfit);
  graph::Simulator simulator(box, {});
  graph::Placement placement{std::vector<std::size_t>(16), std::vector<std::size_t>(16, 0)};
  std::iota(placement.gpu.begin(), placement.gpu.end(), 0);
  simulator.prepare(g, graph::kernel_times(g, graph::supply(v100()), "v100"), placement);
  for (auto _ : state) benchmark::DoNotOptimize(simulator.run().time_s);
  state.counters["per_second"] =
      benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  state.SetLabel(application(which).name);
}
BENCHMARK(simulate_16_gpus)->Arg(0)->Arg(1)->Arg(2)->Unit(benchmark::kMicrosecond);

// As partsim does it: graphs built, repeated iterations not simulated.
void point_of_a_sweep(benchmark::State& state) {
  int const which = static_cast<int>(state.range(0));
  auto const box = system("victoria");
  graph::Study study(application(which), box, v100(), {}, 100);
  auto const placement = study.placement(
      [] {
        std::vector<std::size_t> map(16);
        std::iota(map.begin(), map.end(), 0);
        return map;
      }(),
      {0});
  for (auto _ : state) benchmark::DoNotOptimize(study.simulate(size_of(which), 16, placement).time_s);
  state.SetLabel(application(which).name);
}
BENCHMARK(point_of_a_sweep)->Arg(0)->Arg(1)->Arg(2)->Unit(benchmark::kMicrosecond);

// How many GPUs, which, and where the data: all of victoria.
void choose_of_16_gpus(benchmark::State& state) {
  int const which = static_cast<int>(state.range(0));
  auto const box = system("victoria");
  graph::ChooseOptions options;
  options.gpus.resize(16);
  std::iota(options.gpus.begin(), options.gpus.end(), 1);
  options.buffers = {{0}, {1}, {}};
  for (auto _ : state) {
    graph::Study study(application(which), box, v100(), {}, 100);
    benchmark::DoNotOptimize(graph::choose(study, size_of(which), options).best.size());
  }
  state.SetLabel(application(which).name);
}
BENCHMARK(choose_of_16_gpus)->Arg(0)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond);

}  // namespace
