// Which groups of a launch are a cluster.
#pragma once

#include "emulator/emu.hpp"

namespace kernelcast::emu {

// Of the launch, else what the kernel requires (.reqnctapercluster); Error(usage) where the grid is not a multiple of
// it.
Dim3 cluster_of(Program const&, Launch const&);

// Groups must run in one call of run(): they wait for each other, as those of a cooperative launch and of clusters do.
bool runs_together(Program const&, Launch const&);

}  // namespace kernelcast::emu
