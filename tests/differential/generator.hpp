// Random OpenCL C kernels whose results are defined to the last bit.
//
// Problem: the emulator, and the compiler and library before it, must agree with another implementation on kernels that
// no one chose. Whatever C or OpenCL leaves open would be a false alarm.
// Method: typed expressions over integers of 8 to 64 bits, float and double, and vectors of them. Signed arithmetic
// goes through unsigned; shifts are masked; division is guarded; floating point has only operations that IEEE 754
// defines (no contraction), and results that are NaN count as one value. Statements nest loops, switches, breaks and
// early returns; local memory and barriers stand where all work-items pass; atomics are those whose order does not
// matter, and what they return is not used. Limits: no calls of the mathematical library, no images, no pointers but
// the kernel's own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kernelcast::differential {

inline constexpr unsigned group_items = 48;  // a warp and a half
inline constexpr unsigned groups = 2;
inline constexpr unsigned input_words = 256;
inline constexpr unsigned result_words = 16;  // ulong per work-item
inline constexpr unsigned sum_words = 64;

// Its variables are members of a structure in global memory; each statement between barriers is a function that copies
// them in and out. PoCL 3.1 loses private variables of a kernel across barriers (and computes bounds of loops anew),
// but not those of a function that is not inlined.
struct Kernel {
  std::uint64_t seed = 0;
  std::string name;
  std::string helpers;       // functions, before the kernel
  std::string members;       // the variables' declarations
  std::string declarations;  // and first values
  struct Statement {
    std::string text;
    bool with_barrier = false;  // is in the kernel itself
  };
  std::vector<Statement> statements;  // each one can be left out
  std::string results;                // what it stores
};

Kernel random_kernel(std::uint64_t seed);

inline constexpr unsigned variable_bytes = 1024;  // of a work-item, at most

// One OpenCL kernel `everything` that does what these do, one after the other: a device's compiler takes a second for
// each kernel, however small. Its arguments: ulong* result (result_words for each kernel and work-item), const uint*
// input, uint* sums (sum_words for each kernel), uchar* memory (variable_bytes for each work-item), uint n. Compiled
// with -DAPART statements are functions that are not inlined, with -DPLANTED a wrong result is stored.
std::string source_of(std::vector<Kernel> const&);

}  // namespace kernelcast::differential
