// Which values of a function need a level at all.
//
// A level is the length of the longest chain of floating-point operations behind a value. It flows through values of
// every type, but not through addresses and branches. A value needs one where it may be above 0 (something floating
// point, a load, an argument or a call stands behind it) and something asks for it (an operation, a store, a return).
#pragma once

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

namespace kernelcast::llvm_passes {

enum class Operation { none, add, mul, div, sqrt, call };

// What an instruction counts as; none for what costs nothing: conversions, compares, signs, rounding, minima.
Operation operation_of(llvm::Instruction const&, llvm::TargetLibraryInfo const&);
// A call of the C library's mathematics, or an intrinsic function: nothing that has to be instrumented.
bool is_mathematics(llvm::CallBase const&, llvm::TargetLibraryInfo const&);
// The load that `v` comes from, unchanged but for its type and sign; null for anything else.
llvm::LoadInst const* loaded_from(llvm::Value const* v);
// Lanes of a vector operation, else 1.
unsigned lanes_of(llvm::Instruction const&);

llvm::SmallPtrSet<llvm::Value const*, 32> values_with_level(llvm::Function&, llvm::TargetLibraryInfo const&);

}  // namespace kernelcast::llvm_passes
