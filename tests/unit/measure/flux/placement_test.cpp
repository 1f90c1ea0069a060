#include "measure/flux/placement.hpp"

#include <random>

#include "catch.hpp"

using namespace kernelcast::flux;

namespace {

// A graph of so many blocks and more edges; block 0 is entered, each can reach an exit.
struct Random {
  std::uint32_t blocks;
  std::vector<Edge> edges;
};
Random random_graph(std::mt19937_64& random) {
  Random g;
  g.blocks = 1 + static_cast<std::uint32_t>(random() % 30);
  g.edges.push_back({g.blocks, 0, Edge::Kind::entry, {}});
  for (std::uint32_t b = 0; b < g.blocks; ++b) {
    // Ahead to the next block or out, and up to two more anywhere: loops, several at one header, irreducible ones.
    g.edges.push_back({b, b + 1, b + 1 == g.blocks ? Edge::Kind::leave : Edge::Kind::next, {}});
    for (auto more = random() % 3; more > 0; --more)
      g.edges.push_back({b, static_cast<std::uint32_t>(random() % (g.blocks + 1)), Edge::Kind::branch, {}});
  }
  return g;
}

// Work-items walk at random, counted everywhere.
std::vector<std::uint64_t> walk(Random const& g, std::mt19937_64& random, unsigned work_items) {
  std::vector<std::vector<std::uint32_t>> out(g.blocks);
  for (std::uint32_t e = 1; e < g.edges.size(); ++e) out[g.edges[e].from].push_back(e);
  std::vector<std::uint64_t> counts(g.edges.size(), 0);
  for (unsigned w = 0; w < work_items; ++w) {
    counts[0] += 1;
    for (std::uint32_t at = 0, steps = 0; at != g.blocks; ++steps) {
      auto const& choices = out[at];
      auto const e = choices[steps > 2000 ? 0 : random() % choices.size()];  // the first one leads out
      counts[e] += 1;
      at = g.edges[e].to;
    }
  }
  return counts;
}

}  // namespace

TEST_CASE("counts derived from chords are those counted everywhere, on random control flow") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 3000; ++round) {
    auto const g = random_graph(random);
    auto const counts = walk(g, random, 1 + static_cast<unsigned>(random() % 5));
    std::vector<double> cost;
    for (std::size_t e = 0; e < g.edges.size(); ++e) cost.push_back(static_cast<double>(random() % 100));
    auto const counted = chords(g.blocks + 1, g.edges, cost);
    // Every block is reachable, so the tree has one edge per block: [Knuth, Stevenson], no fewer counters suffice.
    REQUIRE(counted.size() == g.edges.size() - g.blocks);
    std::vector<std::optional<std::uint64_t>> known(g.edges.size());
    for (auto const e : counted) known[e] = counts[e];
    auto const derived = solve(g.blocks + 1, g.edges, known);
    REQUIRE(derived);
    REQUIRE(*derived == counts);
    // One counter fewer tells less, unless what it counted is not part of the flow between blocks.
    if (counted.empty()) continue;
    auto const without = counted[random() % counted.size()];
    known[without].reset();
    CHECK_FALSE(solve(g.blocks + 1, g.edges, known));
  }
}

TEST_CASE("the chords cost as little as any choice of counters can") {
  // Exhaustive: of all sets of edges of the right size that suffice, none is cheaper.
  std::mt19937_64 random(2);
  for (int round = 0; round < 60; ++round) {
    auto g = random_graph(random);
    if (g.edges.size() > 13) continue;
    std::vector<double> cost;
    for (std::size_t e = 0; e < g.edges.size(); ++e) cost.push_back(static_cast<double>(random() % 100));
    auto const sum_of = [&](std::uint32_t set) {
      double sum = 0;
      for (std::size_t e = 0; e < cost.size(); ++e) sum += set >> e & 1 ? cost[e] : 0;
      return sum;
    };
    std::uint32_t chosen = 0;
    for (auto const e : chords(g.blocks + 1, g.edges, cost)) chosen |= 1u << e;
    double best = sum_of(chosen);
    for (std::uint32_t set = 0; set < 1u << g.edges.size(); ++set) {
      if (sum_of(set) >= best) continue;
      std::vector<std::optional<std::uint64_t>> known(g.edges.size());
      for (std::size_t e = 0; e < cost.size(); ++e)
        if (set >> e & 1) known[e] = 0;
      if (solve(g.blocks + 1, g.edges, known)) best = sum_of(set);
    }
    CHECK(sum_of(chosen) == best);
  }
}

TEST_CASE("an edge that cannot be counted is derived") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 500; ++round) {
    auto const g = random_graph(random);
    std::vector<double> cost(g.edges.size(), 1);
    std::vector<std::uint32_t> lost;
    for (std::uint32_t e = 1; e < g.edges.size(); ++e)  // one edge to the outside from each of some blocks
      if (g.edges[e].to == g.blocks && random() % 2 &&
          std::none_of(lost.begin(), lost.end(), [&](auto x) { return g.edges[x].from == g.edges[e].from; })) {
        cost[e] = must_derive;
        lost.push_back(e);
      }
    for (auto const e : chords(g.blocks + 1, g.edges, cost)) CHECK(cost[e] != must_derive);
  }
}

TEST_CASE("a relation tells a loop's iterations without a counter") {
  // entry -> 0; 0 -> 0 seven times for each entry; 0 -> 1 -> outside.
  std::vector<Edge> const edges{{2, 0, Edge::Kind::entry, {}},
                                {0, 0, Edge::Kind::branch, {}},
                                {0, 1, Edge::Kind::next, {}},
                                {1, 2, Edge::Kind::leave, {}}};
  auto const counts = solve(3, edges, {5, {}, {}, {}}, {{1, 7, {0}}});
  REQUIRE(counts);
  CHECK(*counts == std::vector<std::uint64_t>{5, 35, 5, 5});
  CHECK(node_counts(3, edges, *counts)[0] == 40);
}
