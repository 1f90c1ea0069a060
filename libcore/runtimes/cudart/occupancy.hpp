// How many groups of a kernel fit.
#pragma once

#include "records/device/device.hpp"
#include "runtimes/cudart/registry.hpp"

namespace kernelcast::cudart {

// Of a kernel that was prepared. Registers are our estimate from live ranges of the PTX, and no compiler of machine
// code runs here; but of kernels that start teams of OpenMP they are those of ptxas, where it is installed.
std::uint64_t registers_of(device::Device const&, Kernel&);
std::uint64_t max_work_items(device::Device const&, Kernel const&);
// The same, and not more than the registers of a compute unit suffice for. Larger ones run here: registers are
// estimates.
std::uint64_t max_resident_work_items(device::Device const&, Kernel&);
// On one compute unit; 0 where not even one fits.
std::uint64_t groups_per_unit(device::Device const&, Kernel&, std::uint64_t block, std::uint64_t dynamic_shared_bytes);

}  // namespace kernelcast::cudart
