// The stack-distance engine by itself: references per second, on a stencil's streams, on the triangles of LU
// decomposition and on what is hardest for it, random blocks.
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

#include "sequential/distance.hpp"

namespace kernelcast::seq {
namespace {

void run(benchmark::State& state, std::vector<std::uint32_t> blocks) {
  blocks.resize(blocks.size() / chunk * chunk);
  for (auto _ : state) {
    DistanceCounter counter(3);
    counter.add(blocks.data(), static_cast<std::uint32_t>(blocks.size()));
    counter.finish();
    benchmark::DoNotOptimize(counter.histogram().cold_count());
  }
  state.counters["references"] = benchmark::Counter(
      static_cast<double>(blocks.size()) * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void stencil(benchmark::State& state) {
  std::uint32_t const row = 501, plane = row * 503;
  std::vector<std::uint32_t> blocks;
  for (std::uint32_t i = plane; i < 9 * plane; ++i)
    for (auto const at : {i, i - 1, i + 1, i - row, i + row, i - plane, i + plane, i + 16 * plane})
      blocks.push_back(at / 8);
  run(state, std::move(blocks));
}

void lu_decomposition(benchmark::State& state) {
  std::uint32_t const n = 330;
  std::vector<std::uint32_t> blocks;
  for (std::uint32_t i = 0; i < n; ++i)
    for (std::uint32_t j = i; j < n; ++j)
      for (std::uint32_t k = 0; k < i; ++k) {
        blocks.push_back((i * n + k) / 8);
        blocks.push_back((k * n + j) / 8);
      }
  run(state, std::move(blocks));
}

void random_blocks(benchmark::State& state) {
  std::mt19937 random(1);
  auto const set = static_cast<std::uint32_t>(state.range(0));
  std::vector<std::uint32_t> blocks(20000000);
  for (auto& block : blocks) block = random() % set;
  run(state, std::move(blocks));
}

BENCHMARK(stencil)->Unit(benchmark::kMillisecond);
BENCHMARK(lu_decomposition)->Unit(benchmark::kMillisecond);
BENCHMARK(random_blocks)->Unit(benchmark::kMillisecond)->Arg(30000)->Arg(1000000)->Arg(3000000)->Arg(10000000);

}  // namespace
}  // namespace kernelcast::seq
