// Allocations against what defines them, not against another solver of the same kind.
#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "boxes.hpp"
#include "catch.hpp"

using namespace kernelcast;
using graph::Allocation;

namespace {

using Paths = std::vector<std::vector<std::uint32_t>>;

std::vector<double> allocate(Allocation how, std::vector<double> const& capacities, Paths const& paths) {
  std::vector<graph::Allocator::Route> routes(paths.begin(), paths.end());
  graph::Allocator allocator;
  std::vector<double> rates;
  allocator.allocate(how, capacities, routes, rates);
  return rates;
}

// Bertsekas and Gallager: an allocation is max-min fair exactly if it is feasible and every connection has a
// bottleneck, a full channel on which no other connection gets more.
std::string not_maxmin(std::vector<double> const& capacities, Paths const& paths, std::vector<double> const& rates) {
  std::vector<double> load(capacities.size(), 0), largest(capacities.size(), 0);
  for (std::size_t i = 0; i < paths.size(); ++i)
    for (auto const channel : paths[i]) {
      load[channel] += rates[i];
      largest[channel] = std::max(largest[channel], rates[i]);
    }
  for (std::size_t c = 0; c < capacities.size(); ++c)
    if (load[c] > capacities[c] * (1 + 1e-9)) return "channel " + std::to_string(c) + " is overloaded";
  for (std::size_t i = 0; i < paths.size(); ++i)
    if (std::none_of(paths[i].begin(), paths[i].end(), [&](auto c) {
          return load[c] >= capacities[c] * (1 - 1e-9) && rates[i] >= largest[c] * (1 - 1e-9);
        }))
      return "connection " + std::to_string(i) + " has no bottleneck";
  return {};
}

}  // namespace

TEST_CASE("allocation: the three modes on the vector of three links") {
  // L1 = 2 {a, b}, L2 = 4 {a, c}, L3 = 0.2 {b}
  std::vector<double> const capacities{2, 4, 0.2};
  Paths const paths{{0, 1}, {0, 2}, {1}};
  auto const check = [&](Allocation how, double a, double b, double c) {
    auto const rates = allocate(how, capacities, paths);
    CHECK(rates[0] == Approx(a).epsilon(1e-9));
    CHECK(rates[1] == Approx(b).epsilon(1e-9));
    CHECK(rates[2] == Approx(c).epsilon(1e-9));
  };
  check(Allocation::maxmin, 1.8, 0.2, 2.2);
  check(Allocation::seed, 1.45, 0.2, 2.55);
  check(Allocation::rounds, 1.5, 0.2, 2.5);
}

TEST_CASE("allocation: every connection of 2,000 random graphs has a bottleneck") {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    std::size_t const nodes = 3 + random() % 30, connections = 1 + random() % 80;
    // A random tree with some more links; a route is a walk up and down it, or one of the shortcuts.
    std::vector<double> capacities;
    std::vector<std::size_t> parent(nodes, 0);
    for (std::size_t n = 0; n < 2 * nodes; ++n)
      capacities.push_back(random() % 3 == 0 ? 12.0 : std::pow(2.0, static_cast<double>(random() % 600) / 100));
    for (std::size_t n = 1; n < nodes; ++n) parent[n] = random() % n;
    Paths paths;
    for (std::size_t i = 0; i < connections; ++i) {
      std::set<std::uint32_t> channels;
      for (std::size_t n = random() % nodes; n != 0; n = parent[n]) channels.insert(static_cast<std::uint32_t>(2 * n));
      for (std::size_t n = random() % nodes; n != 0; n = parent[n])
        channels.insert(static_cast<std::uint32_t>(2 * n + 1));
      if (channels.empty()) channels.insert(static_cast<std::uint32_t>(random() % 2));
      paths.emplace_back(channels.begin(), channels.end());
    }
    auto const rates = allocate(Allocation::maxmin, capacities, paths);
    INFO("trial " << trial << ": " << not_maxmin(capacities, paths, rates));
    REQUIRE(not_maxmin(capacities, paths, rates).empty());
    // All modes stay within the channels; the listing never gives less in sum than nothing at all.
    for (auto const how : {Allocation::seed, Allocation::rounds}) {
      auto const other = allocate(how, capacities, paths);
      std::vector<double> load(capacities.size(), 0);
      for (std::size_t i = 0; i < paths.size(); ++i) {
        REQUIRE(other[i] > 0);
        for (auto const channel : paths[i]) load[channel] += other[i];
      }
      for (std::size_t c = 0; c < capacities.size(); ++c) REQUIRE(load[c] <= capacities[c] * (1 + 1e-9));
    }
  }
}

TEST_CASE("allocation: the checker refuses what is not fair") {
  std::vector<double> const capacities{2, 4, 0.2};
  Paths const paths{{0, 1}, {0, 2}, {1}};
  CHECK(not_maxmin(capacities, paths, {1.8, 0.2, 2.2}).empty());
  CHECK_FALSE(not_maxmin(capacities, paths, {1.45, 0.2, 2.55}).empty());
  CHECK_FALSE(not_maxmin(capacities, paths, {1.8, 0.2, 2.3}).empty());
}
