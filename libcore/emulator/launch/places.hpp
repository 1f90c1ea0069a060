// Where an instruction comes from, for records: the source line that .loc names, else its line in the PTX.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "kernels/ptx/module.hpp"

namespace kernelcast::launch {

// The user's own file is called as the user calls it. PTX that was compiled from "a.cl" is "a.ptx".
std::pair<std::string, std::uint64_t> place_of(ptx::Module const&, ptx::Instruction const&);

}  // namespace kernelcast::launch
