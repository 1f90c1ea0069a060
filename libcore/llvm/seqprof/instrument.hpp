// Writes the measuring code into a function: levels of values in registers, shadow cells of what is in memory, a row of
// addresses per run of instructions, and the clocks and frames of its loops. See seq/abi.hpp for the data.
#pragma once

#include <llvm/IR/PassManager.h>

#include "llvm/seqprof/functions.hpp"
#include "llvm/seqprof/loops.hpp"

namespace kernelcast::llvm_passes {

// Instruments `copy` and returns its descriptor, a global variable for kernelcast_seq_register().
llvm::Constant* instrument(llvm::Function& copy, llvm::Function const& original, Copies const&,
                           llvm::FunctionAnalysisManager&, VectorizableLoops const&);

}  // namespace kernelcast::llvm_passes
