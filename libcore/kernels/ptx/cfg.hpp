// Control-flow graph of a function: blocks, dominators, post-dominators and natural loops.
//
// A block ends at a branch, brx.idx, ret, exit or trap and before a label that something branches to. A call is an
// ordinary instruction. A guarded ret, exit or trap has two ways on: the exit and the next instruction.
// Dominators by Cooper, Harvey and Kennedy ("A simple, fast dominance algorithm"), near linear on real code.
//
// Post-dominators need every block to reach the end. Where an infinite loop does not, one of its blocks is joined to
// the virtual exit by an edge that the program never takes (`endless`).
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/ptx/module.hpp"

namespace kernelcast::ptx {

inline constexpr std::uint32_t no_block = std::numeric_limits<std::uint32_t>::max();

struct CfgBlock {
  std::uint32_t first = 0, last = 0;        // instructions [first, last)
  std::vector<std::uint32_t> successors;    // distinct; for a two-way block the next block comes first
  std::vector<std::uint32_t> predecessors;  // distinct, ascending; unreachable ones included
  bool exits = false;                       // may end the function: ret, exit, trap, or the end of the text
  bool endless = false;                     // joined to the virtual exit because its loop has no end
  bool reachable = false;                   // from the entry
  std::uint32_t dominator = no_block;       // immediate; no_block for the entry and unreachable blocks
  std::uint32_t post_dominator = no_block;  // immediate; no_block = the virtual exit (or unreachable)
  std::uint32_t loop = no_block;            // innermost natural loop: index into Cfg::loops
  std::uint32_t loop_depth = 0;             // 0 = in no loop
};

struct Loop {
  std::uint32_t header = 0;
  std::vector<std::uint32_t> blocks;  // ascending, header included
  std::uint32_t parent = no_block;    // the loop around it: index into Cfg::loops
  std::uint32_t depth = 1;
};

struct Cfg {
  std::vector<CfgBlock> blocks;  // in the order of the text; block 0 is the entry; none for an empty body
  std::vector<std::uint32_t> reverse_post_order;  // reachable blocks
  std::vector<std::uint32_t> block_of;            // by instruction
  std::vector<Loop> loops;                        // outer before inner
  bool irreducible = false;                       // a cycle that is entered at two places: not a natural loop

  bool dominates(std::uint32_t a, std::uint32_t b) const;       // reflexive; both reachable
  bool post_dominates(std::uint32_t a, std::uint32_t b) const;  // reflexive; both reachable
};

struct CfgOptions {
  bool barriers_end_blocks = false;  // bar and barrier begin and end a block of their own
};

Cfg build_cfg(Function const&, CfgOptions = {});

// The rest of the analysis for blocks whose `successors` and `exits` are set; `first`, `last` are ignored.
Cfg analyse(std::vector<CfgBlock> blocks);

}  // namespace kernelcast::ptx
