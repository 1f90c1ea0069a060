// Issue slots of a launch as AMD's machine code has them.
//
// Problem: counts belong to blocks of the PTX, which another compiler made from the same source: it joins and unrolls
// other loops, has other branches, and its wavefronts may have 64 work-items.
// Method: each instruction of both knows its line of the source. What compilers neither add nor save (bytes that are
// loaded and stored, floating-point operations, those of matrix products, barriers) is the same amount on both sides,
// line by line: an equation between how often blocks of the PTX were entered and how often machine blocks run. Blocks
// that run equally often (each dominates or post-dominates the other in one loop) are one unknown; the first block runs
// once for each wavefront, and none more often than the one that dominates it in its loop. The equations are solved for
// the least sum of absolute errors, by weighted medians, one unknown after the other. Where a line has as many copies
// in both, the first is the first. Of two loops with a line the one with more copies takes the whole rounds, the other
// what remains. Where no such amount is known, how often a line occurs tells, with little weight. An access that only
// some active lanes take part in, without a branch, is a slot of `memory` as often as its line runs, else of `issue`.
// Limits: a block without any line of the PTX runs as often as the one that dominates it, a loop without any as often
// as it is entered. Functions that are called are not counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "emulator/emu.hpp"
#include "emulator/observe/kernel_counters.hpp"
#include "kernels/amdgcn/amdgcn.hpp"

namespace kernelcast::emu {

struct AmdSlots {
  SlotCounts counts;
  std::size_t instructions = 0;  // of the machine code
  std::size_t matched = 0;       // of these, with a line of the PTX
  std::size_t blocks = 0;
  std::size_t by_rules = 0;  // of these, without any line of the PTX
  // Of private memory, of wavefronts: a request for each word that all lanes move.
  double private_loads = 0, private_stores = 0;
};
// `entries`: how often wavefronts of the code's width entered the program's blocks.
AmdSlots amd_slots(Program const&, amdgcn::Code const&, std::span<std::uint64_t const> entries);

}  // namespace kernelcast::emu
