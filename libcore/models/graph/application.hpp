// Applications as text: how a problem of size n becomes a compute graph of g parts.
//
// Problem: [braun] writes a generator for each application; here an application is a TOML file (format in partsim(1)),
// so that a new one needs no code.
// Method: the problem is a grid of n x n (or a line of n) that is split evenly; the file says what is copied before,
// what each part computes and sends in each iteration, and what is copied after. Dependences follow from it:
//   a kernel waits for all that was copied to its part since its last kernel, and for that kernel;
//   a copy waits for the last kernel of its source part; from the host, for nothing before the first kernel of its
//   part.
// Parts are double buffered: what arrives does not wait until the receiver has read the last.
// Limits: one loop; the exchanges after its last iteration are left out, since they are never read.
#pragma once

#include <string>
#include <vector>

#include "models/graph/compute_graph.hpp"
#include "models/graph/expression.hpp"

namespace kernelcast::graph {

enum class Split { grid, line };  // near-square factors, else one row; or one row always

enum class StepKind { kernel, from_host, to_host, to_neighbours, to_all };

struct Step {
  StepKind kind = StepKind::kernel;
  std::string name;
  Expression bytes;                                       // of a copy
  Expression elements;                                    // of a kernel
  std::array<Expression, resource_names.size()> demands;  // of a kernel, per element
  Where where;
};

struct Application {
  std::string name, summary, assumed, file;
  Split split = Split::grid;
  Where split_where;
  Expression memory_bytes;  // that a part needs on its GPU; empty: not known
  std::vector<Step> before, loop, after;

  // The graph for a size, a number of parts and of iterations. `misfit` says why there is none (n too small); the graph
  // is then empty.
  Graph graph(double n, std::uint32_t parts, std::uint32_t iterations, std::string& misfit) const;
};

// Throws Error(io) for a file that cannot be read, Error(bad_data) for anything wrong in it, with its place.
Application read_application(std::string const& path);

}  // namespace kernelcast::graph
