// A forest of 512 trees on 1600 samples of 12 features: training, one prediction, and many.
#include <cmath>

#include <benchmark/benchmark.h>

#include "models/forest/estimator.hpp"
#include "models/forest/random.hpp"

namespace kernelcast::forest {
namespace {

Samples samples_of(std::size_t n, std::size_t features) {
  Random random(7);
  Samples out;
  out.features = features;
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::size_t f = 0; f < features; ++f) {
      double const value = std::exp(15 * random.uniform());
      out.x.push_back(static_cast<float>(value));
      sum += f < 3 ? value : 0;
    }
    out.y.push_back(sum * std::exp(0.2 * random.uniform()) * 1e-9);
  }
  return out;
}

Plan plan_of(Criterion criterion) {
  Plan out;
  out.forest.criterion = criterion;
  return out;
}

void train_mse(benchmark::State& state) {
  auto const samples = samples_of(1600, 12);
  for (auto _ : state) benchmark::DoNotOptimize(Estimator::fit(samples, plan_of(Criterion::mse)));
}
void train_mae(benchmark::State& state) {
  auto const samples = samples_of(1600, 12);
  for (auto _ : state) benchmark::DoNotOptimize(Estimator::fit(samples, plan_of(Criterion::mae)));
}

void predict_one(benchmark::State& state) {
  auto const samples = samples_of(1600, 12);
  auto const estimator = Estimator::fit(samples, plan_of(Criterion::mse));
  auto const asked = samples_of(4096, 12);
  Scratch scratch;
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(estimator.predict(asked.row(i++ * 797 % asked.size()), scratch));
}

void predict_rows(benchmark::State& state) {
  auto const samples = samples_of(1600, 12);
  auto const estimator = Estimator::fit(samples, plan_of(Criterion::mse));
  auto const asked = samples_of(4096, 12);
  Scratch scratch;
  for (auto _ : state) benchmark::DoNotOptimize(estimator.predict_rows(asked.x, scratch));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(asked.size()));
}

BENCHMARK(train_mse)->Unit(benchmark::kMillisecond);
BENCHMARK(train_mae)->Unit(benchmark::kMillisecond);
BENCHMARK(predict_one)->Unit(benchmark::kMicrosecond);
BENCHMARK(predict_rows)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kernelcast::forest
