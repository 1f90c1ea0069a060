// Issue slots of a kernel's basic blocks as its machine code has them.
//
// Problem: counts belong to blocks of the PTX, machine code has others: ptxas merges blocks under predicates, moves
// instructions out of loops, unrolls loops.
// Method: each machine instruction knows the line of the PTX that it comes from. A machine block runs as often as the
// block of the PTX among those of its lines that dominates the others, at its own depth of loops. How many rounds of a
// loop a machine loop holds is the median of how often it repeats the lines that are one instruction each. Of several
// versions of a loop (unrolled, remainder) the one with most rounds counts. Slow paths that the assembler calls are
// left out; what it always calls (64-bit division) is counted where it is called. An access under a predicate is a slot
// of `memory` where its own block runs, else of `issue`.
// Limits: remainders of unrolled loops cost as if they were rounds of the loop. Blocks whose lines are not theirs alone
// (functions that are called twice, several instructions of different blocks in one line) keep the slots of rules.
#pragma once

#include <cstddef>
#include <vector>

#include "emulator/emu.hpp"
#include "kernels/sass/sass.hpp"
#include "records/pipe.hpp"

namespace kernelcast::emu {

struct MachineSlots {
  std::vector<record::PerPipe<double>> blocks;  // by block of the program: for each entry of a wavefront of 32
  std::size_t by_rules = 0;                     // blocks that the machine code was not found for
  std::size_t instructions = 0;                 // of the machine code, the assembler's subroutines left out
  std::size_t matched = 0;                      // of these, with a line of a block
};
MachineSlots machine_slots(Program const&, sass::Code const&);

}  // namespace kernelcast::emu
