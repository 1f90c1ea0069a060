// Which edges of a control-flow graph need a counter, and all counts from those.
//
// Method (Knuth and Stevenson, "Optimal measurement points for program frequency counts", BIT 13, 1973): what flows
// into a node flows out of it, so the edges of any spanning tree follow from the others, the chords. The tree of
// greatest weight leaves the chords of least cost. An edge whose count is known anyway (entries of a kernel: its
// launch) costs nothing; one that cannot be counted must lie in the tree.
// Relations add what does not follow from control flow: a loop whose body is entered a constant number of times.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "measure/flux/graph.hpp"

namespace kernelcast::flux {

inline constexpr double must_derive = std::numeric_limits<double>::infinity();  // cost of an edge that has no place

// Chords, ascending. `cost[e]` is what counting edge e costs each time the function runs, in instructions.
std::vector<std::uint32_t> chords(std::uint32_t nodes, std::vector<Edge> const&, std::vector<double> const& cost);

// count(edge) = factor * sum of count(of).
struct Relation {
  std::uint32_t edge = 0;
  std::uint64_t factor = 0;
  std::vector<std::uint32_t> of;
};

// All edges' counts from those that are known; none where these do not suffice.
std::optional<std::vector<std::uint64_t>> solve(std::uint32_t nodes, std::vector<Edge> const&,
                                                std::vector<std::optional<std::uint64_t>> known,
                                                std::vector<Relation> const& = {});

// Entries of each node but `outside`.
std::vector<std::uint64_t> node_counts(std::uint32_t nodes, std::vector<Edge> const&,
                                       std::vector<std::uint64_t> const& edge_counts);

}  // namespace kernelcast::flux
