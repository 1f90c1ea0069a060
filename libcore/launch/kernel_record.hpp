// Emulated counters to a `kernel` record.
#pragma once

#include "emu/observe/kernel_counters.hpp"
#include "launch/launch.hpp"

namespace kernelcast::launch {

// Extrapolates linearly by groups_total / groups_emulated of `row`, which must be set. A footprint cannot exceed
// `memory_bytes`, all that there is. The most atomic operations on one address grow with the groups in global memory
// (as if all groups used the same address) but not in shared memory.
void fill_counters(record::Kernel& row, emu::KernelCounters const&, std::uint64_t memory_bytes);

void fill_registers(record::Kernel& row, frontend::Registers const&);

}  // namespace kernelcast::launch
