#include "measure/flux/placement.hpp"

#include <algorithm>
#include <numeric>

namespace kernelcast::flux {

namespace {

// Disjoint sets of nodes.
class Sets {
 public:
  explicit Sets(std::uint32_t nodes) : parent_(nodes) { std::iota(parent_.begin(), parent_.end(), 0u); }
  bool join(std::uint32_t a, std::uint32_t b) {
    a = root(a), b = root(b);
    if (a == b) return false;
    parent_[a] = b;
    return true;
  }

 private:
  std::uint32_t root(std::uint32_t node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }
  std::vector<std::uint32_t> parent_;
};

// Elimination: a node with one unknown edge tells it; a relation whose right side is known tells its edge.
class Solver {
 public:
  Solver(std::uint32_t nodes, std::vector<Edge> const& edges, std::vector<std::optional<std::uint64_t>> known,
         std::vector<Relation> const& relations)
      : edges_(edges), known_(std::move(known)), relations_(relations), at_(nodes), unknown_(nodes, 0) {
    for (std::uint32_t e = 0; e < edges_.size(); ++e) {
      if (edges_[e].from == edges_[e].to) continue;  // in and out cancel
      for (auto const node : {edges_[e].from, edges_[e].to}) {
        at_[node].push_back(e);
        unknown_[node] += !known_[e];
      }
    }
  }

  std::optional<std::vector<std::uint64_t>> run() {
    for (std::uint32_t node = 0; node < at_.size(); ++node) pending_.push_back(node);
    do
      while (!pending_.empty()) eliminate();
    while (relate());
    std::vector<std::uint64_t> counts;
    for (auto const& count : known_) {
      if (!count) return std::nullopt;
      counts.push_back(*count);
    }
    return counts;
  }

 private:
  void eliminate() {
    auto const node = pending_.back();
    pending_.pop_back();
    if (unknown_[node] != 1) return;
    std::uint32_t missing = 0;
    std::uint64_t in = 0, out = 0;  // differences are right modulo 2^64
    for (auto const e : at_[node]) {
      if (!known_[e])
        missing = e;
      else
        (edges_[e].to == node ? in : out) += *known_[e];
    }
    learn(missing, edges_[missing].to == node ? out - in : in - out);
  }

  void learn(std::uint32_t e, std::uint64_t count) {
    known_[e] = count;
    if (edges_[e].from == edges_[e].to) return;
    for (auto const node : {edges_[e].from, edges_[e].to}) {
      --unknown_[node];
      pending_.push_back(node);
    }
  }

  bool relate() {
    bool learned = false;
    for (auto const& relation : relations_) {
      if (known_[relation.edge]) continue;
      std::uint64_t sum = 0;
      bool const all = std::all_of(relation.of.begin(), relation.of.end(), [&](std::uint32_t e) {
        sum += known_[e].value_or(0);
        return known_[e].has_value();
      });
      if (!all) continue;
      learn(relation.edge, relation.factor * sum);
      learned = true;
    }
    return learned;
  }

  std::vector<Edge> const& edges_;
  std::vector<std::optional<std::uint64_t>> known_;
  std::vector<Relation> const& relations_;
  std::vector<std::vector<std::uint32_t>> at_;  // edges by node
  std::vector<std::uint32_t> unknown_;          // how many of them
  std::vector<std::uint32_t> pending_;
};

}  // namespace

std::vector<std::uint32_t> chords(std::uint32_t nodes, std::vector<Edge> const& edges,
                                  std::vector<double> const& cost) {
  std::vector<std::uint32_t> order(edges.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return cost[a] != cost[b] ? cost[a] > cost[b] : a < b; });
  Sets sets(nodes);
  std::vector<std::uint32_t> out;
  for (auto const e : order)
    if (!sets.join(edges[e].from, edges[e].to)) out.push_back(e);
  std::sort(out.begin(), out.end());
  return out;
}

std::optional<std::vector<std::uint64_t>> solve(std::uint32_t nodes, std::vector<Edge> const& edges,
                                                std::vector<std::optional<std::uint64_t>> known,
                                                std::vector<Relation> const& relations) {
  return Solver(nodes, edges, std::move(known), relations).run();
}

std::vector<std::uint64_t> node_counts(std::uint32_t nodes, std::vector<Edge> const& edges,
                                       std::vector<std::uint64_t> const& edge_counts) {
  std::vector<std::uint64_t> counts(nodes, 0);
  for (std::size_t e = 0; e < edges.size(); ++e) counts[edges[e].to] += edge_counts[e];
  return counts;
}

}  // namespace kernelcast::flux
