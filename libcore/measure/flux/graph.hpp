// The control flow of a function as counting sees it: blocks, edges, and a node `outside` that closes the flow.
//
// Every work-item that enters a block leaves it: at each node what comes in is what goes out. Function entry is an edge
// from `outside`, every end (ret, exit, trap, the end of the text) an edge back to it. A call that may end the
// work-item ends a block, for then not all that come to the call go on.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/ptx/cfg.hpp"
#include "kernels/ptx/module.hpp"

namespace kernelcast::flux {

struct Edge {
  enum class Kind : std::uint8_t {
    entry,   // from outside
    next,    // to the block that follows in the text
    branch,  // bra
    table,   // brx.idx, for the indices in `positions`
    leave,   // ret, exit, trap
    end,     // the end of the text
    lost,    // a work-item ends within a called function: nothing can be counted there
  };
  std::uint32_t from = 0, to = 0;  // nodes
  Kind kind = Kind::next;
  std::vector<std::uint32_t> positions;
};

struct Graph {
  std::uint32_t blocks = 0;  // nodes 0 … blocks - 1; node `blocks` is outside
  std::vector<Edge> edges;   // only between reachable blocks; edge 0 is the entry
  ptx::Cfg cfg;              // of the same blocks, with instruction ranges
  std::uint32_t outside() const { return blocks; }
};

// Which functions of a module may end the work-item that calls them (exit, directly or not).
std::vector<bool> may_end_caller(ptx::Module const&);

Graph build_graph(ptx::Module const&, ptx::Function const&, std::vector<bool> const& may_end_caller);

// The first edge of this kind out of a block; none: edges.size().
std::size_t find_edge(Graph const&, std::uint32_t from, Edge::Kind);

}  // namespace kernelcast::flux
