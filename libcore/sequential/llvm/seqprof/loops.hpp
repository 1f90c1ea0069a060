// What can be said about loops without running them: which values go from iteration to iteration in registers, which
// loads belong to reductions in memory, and which loops LLVM may vectorise.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>

#include "sequential/abi.hpp"

namespace kernelcast::llvm_passes {

struct LoopFacts {
  seq::LoopKind kind = seq::LoopKind::plain;
  llvm::PHINode const* culprit = nullptr;  // of a recurrence
  bool vectorizable = false;
};

struct FunctionLoops {
  llvm::DenseMap<llvm::Loop const*, LoopFacts> facts;
  // Loads whose value is combined with something and stored back to the same place, and used for nothing else: they do
  // not order the iterations of a loop.
  llvm::SmallPtrSet<llvm::Instruction const*, 16> reduction_loads;
  llvm::SmallPtrSet<llvm::Instruction const*, 16> reduction_stores;  // that store it back
};

// Where innermost loops begin that LLVM may vectorise, floating-point reductions allowed: "file:line:column".
using VectorizableLoops = llvm::StringSet<>;
// `scratch` is a copy of the function; it is optimised first, as LLVM's pipeline does before its vectoriser.
void find_vectorizable(llvm::Function& scratch, llvm::PassBuilder&, llvm::FunctionAnalysisManager&, VectorizableLoops&);

FunctionLoops study_loops(llvm::Function&, llvm::FunctionAnalysisManager&, VectorizableLoops const&);

}  // namespace kernelcast::llvm_passes
