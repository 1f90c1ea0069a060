// The number of registers of a kernel with all that it calls.
//
// Where every call can be put in line it is that of the kernel with its calls replaced. Otherwise (recursion, calls by
// address) the functions are code of their own: each uses registers from the first on and saves what its caller needs,
// so that the one with the most decides, as ptxas reports it.
#pragma once

#include <cstdint>

#include "kernels/ptx/module.hpp"

namespace kernelcast::ptx {

// 32-bit registers; an estimate from live ranges, see liveness.hpp. Functions without a body count nothing.
std::uint32_t kernel_registers(Module const&, Function const& kernel);

}  // namespace kernelcast::ptx
