// Which memory a kernel can touch: the pointers among its parameters that its addresses come from.
//
// Method: a value carries the set of pointers that it may have been computed from: eight-byte words of the parameters,
// and variables of the module. Sums, selections and copies unite the sets of what they read, products have none. Sets
// grow over all instructions until none does.
// Limits, each of which makes the kernel one that may touch anything: addresses that come from memory (pointers in
// structures that pointers lead to), calls, textures and surfaces, clocks, bulk copies, more than 60 pointers. Volatile
// and ordered accesses are like others: groups of one launch that wait for each other stay within what it touches.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/ptx/module.hpp"

namespace kernelcast::ptx {

struct TouchedPointer {
  bool is_variable = false;
  std::uint64_t at = 0;  // the word's offset in the parameter block, or an index into Module::variables
  bool read = false, written = false;
  bool is_value = false;  // more than the place matters: it is stored, or compared with another pointer
};

// Empty where it may touch anything. `kernel`: best with its calls inlined.
std::optional<std::vector<TouchedPointer>> touched_pointers(Function const& kernel);

}  // namespace kernelcast::ptx
