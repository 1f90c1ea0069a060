// A forest: samples in their canonical order, trees in parallel.
#include <algorithm>
#include <atomic>
#include <numeric>

#include <fmt/format.h>

#include "base/diag/diag.hpp"
#include "models/forest/forest.hpp"
#include "models/forest/grow.hpp"
#include "models/forest/threads.hpp"

namespace kernelcast::forest {

namespace {

std::vector<std::uint32_t> order_by_target(Samples const& samples) {
  std::vector<std::uint32_t> order(samples.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (samples.y[a] != samples.y[b]) return samples.y[a] < samples.y[b];
    auto const left = samples.row(a), right = samples.row(b);
    auto const [l, r] = std::mismatch(left.begin(), left.end(), right.begin());
    return l == left.end() ? a < b : *l < *r;
  });
  return order;
}

Columns columns_of(Samples const& samples, std::vector<std::uint32_t> const& order) {
  Columns out;
  auto const n = samples.size();
  out.features = samples.features;
  out.x.resize(n * samples.features);
  out.y.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    out.y[i] = samples.y[order[i]];
    auto const row = samples.row(order[i]);
    for (std::size_t f = 0; f < samples.features; ++f) out.x[f * n + i] = row[f];
  }
  return out;
}

void check(Samples const& samples, Settings const& settings) {
  if (samples.size() == 0)
    throw Error(Status::bad_data, "no sample to learn from", "is there a measured target for each row of features?");
  if (samples.features == 0) throw Error(Status::usage, "no feature to learn from", "name columns with --feature");
  if (samples.features > max_feature_count)
    throw Error(Status::bad_data,
                fmt::format("{} features, at most {} are possible", samples.features, max_feature_count),
                "choose columns with --feature");
  if (samples.size() > max_sample_count)
    throw Error(Status::bad_data, fmt::format("{} samples, at most {} are possible", samples.size(), max_sample_count),
                "choose some of them, for example with --max-per-kernel");
  if (settings.trees == 0 || settings.trees > max_tree_count)
    throw Error(Status::usage, fmt::format("a forest has 1 to {} trees", max_tree_count), "512 is common");
}

}  // namespace

Forest train(Samples const& samples, Settings const& settings) {
  check(samples, settings);
  Forest out;
  out.settings = settings;
  out.features = samples.features;
  out.order = order_by_target(samples);
  auto const columns = columns_of(samples, out.order);
  out.targets = columns.y;
  out.trees.resize(settings.trees);
  std::vector<std::vector<double>> parts(settings.trees, std::vector<double>(samples.features));
  std::atomic<std::size_t> next{0};
  on_threads(std::min<std::size_t>(settings.threads, settings.trees), [&] {
    for (std::size_t k = next++; k < settings.trees; k = next++)
      out.trees[k] = grow(columns, settings, Random(settings.seed, k), parts[k]);
  });
  out.importance.resize(samples.features);
  for (auto const& part : parts)
    for (std::size_t f = 0; f < part.size(); ++f) out.importance[f] += part[f];
  double const all = std::accumulate(out.importance.begin(), out.importance.end(), 0.0);
  if (all > 0)
    for (double& part : out.importance) part /= all;
  return out;
}

}  // namespace kernelcast::forest
