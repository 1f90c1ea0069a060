// Problem: GPUs keep a work-item's array in registers only where every index is a constant, so vendors' compilers
// inline the functions of a kernel and unroll the loops that index such an array. clang's NVPTX back end judges loops
// as a CPU's would be, leaves the array in local memory, and the kernel's counts are those of another program.
//
// Method: unoptimised LLVM IR in text form, as clang writes it, is marked before it is optimised. Functions become
// `alwaysinline`; a loop becomes `llvm.loop.unroll.full` where an address in private memory depends on a variable that
// the loop itself counts, the rule of LLVM's AMDGPUTargetTransformInfo.cpp, or where the length of such a loop in it
// does. LLVM unrolls it where the trip count is a constant and the result has at most 16,384 instructions
// (`-pragma-unroll-threshold`).
// What NVIDIA's compilers do, by loops of growing length: NVVM of CUDA 13.0 unrolls a loop of up to 300 instructions
// for sm_75 (as LLVM's -O3 does) and 660 for sm_100, one over a private array up to 2,400 and 3,200; ptxas 13.0 leaves
// no local memory of arrays of up to 32 elements whatever the size of the loop.
//
// Limits: loops are ranges of lines between a label and a branch back to it, which holds for what clang writes of
// structured code; of others (goto) none or too many are marked. Loops with a user's `unroll` hint are left alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kernelcast::frontend {

enum class UsedBy { this_source, other_sources };  // of the functions that are no kernels

// Of OpenCL C: kernels call nothing, unless the user wrote noinline, and functions that are used here alone get no code
// of their own.
void inline_functions(std::string& llvm_ir, UsedBy);

// Which pointers of address space 0 are taken to be private: all (OpenCL C), or those of variables of the function
// itself (CUDA C++, whose pointers have no address space).
enum class PrivatePointers : std::uint8_t { all, of_variables };
// Returns the number of loops that were marked.
std::size_t unroll_private_arrays(std::string& llvm_ir, PrivatePointers);

// clang's options for optimising LLVM IR: -O3, then those of a source's options that rule how it is done.
std::vector<std::string> optimisation_options(std::vector<std::string> const& options);

}  // namespace kernelcast::frontend
