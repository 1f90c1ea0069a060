// Which functions are instrumented: copies of the kernel and of all that it may call. The originals stay as they are,
// so that the program runs at full speed outside the kernel; the kernel itself becomes a wrapper around its copy.
#pragma once

#include <string>
#include <vector>

#include <llvm/ADT/MapVector.h>
#include <llvm/IR/Module.h>

namespace kernelcast::llvm_passes {

// By symbol, or by the name of a C++ or Fortran function, with or without the classes and namespaces around it, without
// the arguments of templates; a name that several functions have gives them all.
std::vector<llvm::Function*> functions_named(llvm::Module&, llvm::StringRef name);
// Such names of all functions that the module defines.
std::vector<std::string> names_of_functions(llvm::Module const&);

// The module has it as a declaration alone.
bool is_declared(llvm::Module const&, llvm::StringRef name);

// Defined functions that `kernel` may call, itself included: by name, and all whose address is taken.
std::vector<llvm::Function*> reachable_from(llvm::Function& kernel);

// Computed gotos become switches: addresses of blocks belong to one function, and would lead out of its copy.
void expand_computed_branches(llvm::Module&);

// Asks for inlining of all calls but those of the kernel, recursive and very large functions, and into very large ones.
void mark_for_inlining(std::vector<llvm::Function*> const&, llvm::Function& kernel);

using Copies = llvm::MapVector<llvm::Function*, llvm::Function*>;  // original -> copy
Copies copy_functions(std::vector<llvm::Function*> const&);

// The body of `kernel`, which is profiled under this name, becomes: tell the run-time, call the copy, tell it again,
// also when an exception leaves it.
void wrap(llvm::Function& kernel, llvm::StringRef name, llvm::Function& copy, std::uint64_t mode);

}  // namespace kernelcast::llvm_passes
