// Calls replaced by the bodies they call: a kernel becomes one function, as the emulator and live ranges need it.
//
// Method: a call of a function that has a body becomes a jump to a copy of that body, `ret` a jump behind it. What is
// passed through .param variables at known offsets becomes moves between registers, as a device's compiler would have
// it; variables whose address is taken or that are read in differing pieces become local memory, one per copy. Shared
// and global variables of a called function exist once.
//
// Limits: recursive functions, indirect calls and functions without a body remain calls; so does what would make the
// kernel longer than a million instructions. Whole holds the bodies that these calls may reach behind the kernel's own;
// one that would be longer than 20,000 instructions keeps its calls of functions that are long themselves: a library
// whose every function can report an error would be copied into each place where one may occur.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/ptx/module.hpp"

namespace kernelcast::ptx {

// A copy of `caller` without those calls; null where there is nothing to replace. It refers to the module's text.
std::unique_ptr<Function> inline_calls(Module const& module, Function const& caller);

// A function whose body stands behind the kernel's, for calls that remain. Its `ret` gives back to the caller. What is
// passed lies in .param variables, in registers never.
struct Callable {
  std::uint32_t function = 0;                      // index into Module::functions, no alias
  std::uint32_t first = 0, last = 0;               // instructions [first, last) of Whole::function
  std::vector<std::uint32_t> parameters, results;  // variables of Whole::function
};
struct Whole {
  Function function;
  std::vector<Callable> callables;
  // By variable: whose frame holds it, if it is .local or .param: 0 the kernel's, k + 1 that of callables[k].
  std::vector<std::uint32_t> owner;
};

// The kernel, calls replaced where possible, with all functions that the remaining calls may reach; null where the
// kernel calls nothing. Arguments and results of remaining calls are .param variables or `_`.
std::unique_ptr<Whole> whole_function(Module const& module, Function const& kernel);

// The function that a direct call names, aliases followed, as an index into Module::functions; none for an indirect
// one.
std::optional<std::uint32_t> callee_of(Module const& module, Instruction const& call);
// Index of the function that this one stands for (.alias), or its own.
std::uint32_t without_alias(Module const& module, std::uint32_t function);

}  // namespace kernelcast::ptx
