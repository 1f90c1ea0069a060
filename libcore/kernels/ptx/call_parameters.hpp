// Where the .param variables of a body lie once calls are replaced. Internal to ptx.
#pragma once

#include <vector>

#include "kernels/ptx/inline.hpp"

namespace kernelcast::ptx {

// .param variables of the body: into registers where possible, else into local memory. Those of calls that remain, and
// of `callables`, stay as they are.
void settle_parameters(Function& function, std::vector<Callable> const& callables = {});

}  // namespace kernelcast::ptx
