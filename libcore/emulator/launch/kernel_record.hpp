// Emulated counters to a `kernel` record.
#pragma once

#include "emulator/launch/launch.hpp"
#include "emulator/observe/kernel_counters.hpp"

namespace kernelcast::launch {

// Extrapolates linearly by groups_total / groups_emulated of `row`, which must be set; all but the footprint, which
// needs more (see footprint.hpp). The most atomic operations on one address grow with the groups in global memory (as
// if all groups used the same address) but not in shared memory.
void fill_counters(record::Kernel& row, emu::KernelCounters const&);

// The slots alone.
void fill_slots(record::Kernel& row, emu::SlotCounts const&);

void fill_sizes(record::Kernel& row, emu::Dim3 const& grid, emu::Dim3 const& block);

// "1024x1024", in so many dimensions.
std::string size_text(emu::Dim3 const& size, unsigned dimensions);
// "1024x1024/16x16": work-items of the launch and of a group.
std::string sizes_text(emu::Dim3 const& global, emu::Dim3 const& block, unsigned dimensions);

// Grown, but to no more than all the memory that there is.
double footprint_bytes(double touched_bytes, double growth, std::uint64_t memory_bytes);

// Warps that the kernel exchanges values within, of a source that is not portable OpenCL C.
void fill_warp(record::Kernel& row, ptx::Function const&, std::string const& source);

// The target of PTX that runs on one architecture or family alone, sm_90a or sm_100f; empty where it runs on all.
std::string architecture_alone(ptx::Module const&);

void fill_registers(record::Kernel& row, frontend::Registers const&);
// ptxas keeps arrays in registers that PTX has in local memory: what was counted of that counts only where ptxas has a
// stack for some target that it was asked for, or was not asked.
void leave_out_local_memory(record::Kernel& row, frontend::Registers const&);

}  // namespace kernelcast::launch
