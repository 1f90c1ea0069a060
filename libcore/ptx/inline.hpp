// Calls replaced by the bodies they call: a kernel becomes one function, as the emulator and live ranges want it.
//
// Method: a call of a function that has a body becomes a jump to a copy of that body, `ret` a jump behind it. What is
// passed through .param variables at known offsets becomes moves between registers, as a device's compiler would have
// it; variables whose address is taken or that are read in differing pieces become local memory, one per copy. Shared
// and global variables of a called function exist once.
//
// Limits: recursion, indirect calls and functions without a body remain calls; so does what would make the kernel
// longer than a million instructions.
#pragma once

#include <memory>

#include "ptx/module.hpp"

namespace kernelcast::ptx {

// A copy of `caller` without those calls; null where there is nothing to replace. It refers to the module's text.
std::unique_ptr<Function> inline_calls(Module const& module, Function const& caller);

}  // namespace kernelcast::ptx
