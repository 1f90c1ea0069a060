// Which machine code a wavefront executes where its trace has PTX.
//
// Problem: a trace counts blocks of PTX and has their addresses; ptxas has merged blocks under predicates, cut others
// in two, and unrolled loops, so that the blocks of a listing have to be found among those of the PTX. Method: blocks
// are compared by their accesses (loads and stores of global, shared and local memory, atomics, barriers, textures). An
// alignment in the order of both texts (dynamic programming) pairs stretches of PTX blocks with stretches of machine
// code of the same accesses: one with one, several of the PTX merged into one, one of the PTX cut into several, a loop
// of the PTX with machine code that has the accesses of several rounds. Machine code that lies between two pairs and
// has those of several rounds of a neighbour is the same loop unrolled further. A wavefront then takes as many rounds
// at a time as there is machine code for and its trace still has; merged blocks that it did not enter cost their issue
// and no request, as predicated instructions do. Limits: what is not matched runs in the order of the PTX, and results
// do not pass between the two; loops whose accesses ptxas removed or combined are not matched; two loops are never
// exchanged.
#pragma once

#include <cstdint>
#include <vector>

#include "models/ake/code.hpp"
#include "models/ake/sass.hpp"

namespace kernelcast::model::ake {

// Which block follows which in some traced wavefront.
class Flow {
 public:
  Flow() = default;
  Flow(Kernel const&, std::vector<Group> const&);
  void add(std::uint32_t from, std::uint32_t to);
  bool has(std::uint32_t from, std::uint32_t to) const;

 private:
  std::vector<std::vector<std::uint32_t>> next_;  // [block]
};

// Rows of the blocks first to last, each round beginning with `first`, that are one execution of `block`.
struct Pattern {
  std::uint32_t first = 0, last = 0;  // of the PTX
  std::uint32_t rounds = 1;
  std::uint32_t block = 0;                        // of Matched::kernel
  std::vector<std::vector<std::uint32_t>> items;  // [access of the block] the accesses that it is, over all rounds
};

struct Matched {
  Kernel kernel;                  // the blocks of the PTX, then those of the patterns
  std::vector<Pattern> patterns;  // by `first`; of one stretch, more rounds first
  std::size_t blocks = 0;         // of the PTX that are machine code now
  std::size_t accesses = 0;       // in them, of accesses_all
  std::size_t accesses_all = 0;
};
Matched match(Listing const&, Kernel const&, Flow const&);

// The group with the rows of its wavefronts as the machine code executes them.
Group follow(Group const&, Kernel const& ptx, Matched const&);

}  // namespace kernelcast::model::ake
