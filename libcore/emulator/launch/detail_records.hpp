// The `line` and `block` records of one kernel, from what an InstructionObserver counted.
#pragma once

#include <vector>

#include "emulator/observe/instruction_counters.hpp"
#include "records/block.hpp"
#include "records/kernel.hpp"
#include "records/line.hpp"

namespace kernelcast::launch {

// One row for each source line that has instructions, in order; executed or not. Counters are extrapolated like the
// kernel record's when only some groups were emulated.
std::vector<record::Line> line_rows(record::Kernel const&, emu::Program const&, emu::InstructionObserver const&);
// One row for each basic block, in order.
std::vector<record::Block> block_rows(record::Kernel const&, emu::Program const&, emu::InstructionObserver const&);

}  // namespace kernelcast::launch
