// How many GPUs, which ones, and where the host buffers lie.
//
// Problem: the least time over numbers of GPUs, maps of parts to GPUs and placements of host buffers.
// Method: numbers of GPUs are taken in the order of a lower bound of their time and left out where that is above the
// runner-up's time (branch and bound). For each, maps are built part by part; of maps that look alike (the same
// signature by colour refinement of interconnect, parts and traffic together) one is kept. Where fewer than a limit
// remain, all are simulated: exhaustive. Where more do, the most compact and the most spread GPUs are filled in order
// and improved by exchanging GPUs until nothing helps: local.
// Limits: colour refinement tells trees apart, but not every pair of meshes; parts whose sizes differ by a few percent
// count as alike.
#pragma once

#include <vector>

#include "models/graph/study.hpp"

namespace kernelcast::graph {

struct Candidate {
  std::uint32_t parts = 0;
  std::vector<std::size_t> map;
  HostBuffer buffer;
  double time_s = 0;
  bool exhaustive = true;
};

struct Choice {
  std::vector<Candidate> best;  // the best of each number of GPUs that was not left out, fastest first; may be empty
  double lower_bound_s = 0;     // of all numbers of GPUs
  bool exhaustive = true;       // nothing was left to a local search, or what it found meets the lower bound
  std::vector<std::string> reasons;  // of numbers of GPUs that are infeasible
};

struct ChooseOptions {
  std::vector<std::uint32_t> gpus;  // numbers of GPUs to choose from
  std::vector<HostBuffer> buffers;  // placements to choose from
  std::size_t max_maps = 400;       // of one number of GPUs and placement that are all simulated
};

Choice choose(Study& study, double n, ChooseOptions const& options);

// The choice among the same candidates on another system of the same shape.
Candidate choose_again(Study& study, double n, std::vector<Candidate> candidates);

}  // namespace kernelcast::graph
