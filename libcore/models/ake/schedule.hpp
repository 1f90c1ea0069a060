// A list scheduler for the instructions of one block.
//
// Problem: PTX is not in the order in which a device runs it; the assembler moves loads away from their uses.
// Method: list scheduling by critical path. The instruction whose operands are complete and whose longest chain of
// latencies to the block's end is longest goes next; when as many values live as there are registers, one that frees
// some goes first. True, anti and output dependences are kept, and the order of stores and fences against all other
// accesses of their space; branches stay at the end.
// Limits: a register is one value whatever its width; values that only pass through the block are not counted.
#pragma once

#include <cstdint>
#include <vector>

#include "models/ake/code.hpp"

namespace kernelcast::model::ake {

// The new order, as indices into the block. `outlives[i]` says whether what instruction i writes is read in other
// blocks. `registers` 0: no limit; a limit below what program order needs is raised to that.
std::vector<std::uint32_t> list_order(std::vector<Instruction> const& block, Machine const&,
                                      std::vector<bool> const& outlives, std::uint64_t registers);

}  // namespace kernelcast::model::ake
