// Writes the measuring code into a function: levels of values in registers, shadow cells of what is in memory, a row of
// addresses per run of instructions, and the clocks and frames of its loops. See sequential/abi.hpp for the data.
#pragma once

#include <llvm/IR/PassManager.h>

#include "sequential/abi.hpp"
#include "sequential/llvm/seqprof/functions.hpp"
#include "sequential/llvm/seqprof/loops.hpp"

namespace kernelcast::llvm_passes {

// What is measured beyond the defaults; the run-time learns it from kernelcast_seq_kernel_enter().
struct Mode {
  bool all_dependences = false;  // writes wait for earlier reads and writes of the same place, too
  bool invocations = false;      // each call of the kernel is scheduled after the one before
  std::uint64_t flags() const {
    return (all_dependences ? seq::all_dependences : 0) | (invocations ? seq::invocations : 0);
  }
};

// Instruments `copy` and returns its descriptor, a global variable for kernelcast_seq_register().
llvm::Constant* instrument(llvm::Function& copy, llvm::Function const& original, Copies const&, Mode,
                           llvm::FunctionAnalysisManager&, VectorizableLoops const&);

}  // namespace kernelcast::llvm_passes
