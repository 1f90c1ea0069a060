// Which registers have one value in all work-items of a group, wherever these are in the code together.
//
// A register varies where an instruction that writes it reads a work-item's own number, another register that varies, a
// clock, or memory, other than parameters and constants at an address that does not vary; and what other work-items
// give (shuffles, atomics). Everything else is uniform. Limit: what is chosen by a branch that varies is taken as
// uniform.
#pragma once

#include "kernels/ptx/liveness.hpp"
#include "kernels/ptx/module.hpp"

namespace kernelcast::ptx {

RegisterSet varying_registers(Function const&);

}  // namespace kernelcast::ptx
