// Launches that wait for the host.
//
// Problem: a kernel may wait until the host writes a flag, so that what follows in its stream begins at once (nvbench),
// or is prepared meanwhile. Here a launch has ended when its call returns, and such a kernel never would.
// Method: a kernel whose pointers all lead to memory that the host can write, and that reads volatile, is tried: its
// first group runs until it would change anything, or ends. If it does nothing but read the same words over and over,
// the launch is held (Launcher), until the host waits for its stream.
// Limits: what follows in the stream runs before it. A kernel that has done something before it waits is not held.
#pragma once

#include "emulator/emu.hpp"
#include "runtimes/cudart/allocations.hpp"
#include "runtimes/cudart/registry.hpp"

namespace kernelcast::cudart {

// Nothing is changed by this.
bool waits_for_host(Kernel const&, emu::Launch const&, emu::Memory&, Allocations const&);

}  // namespace kernelcast::cudart
