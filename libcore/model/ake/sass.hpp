// The machine code of kernels, from a disassembler's listing.
//
// Problem: PTX is not what a device runs; where ptxas and a disassembler are at hand, the listing is. A trace counts
// PTX blocks and has their addresses, so that the listing's blocks must be found among them.
// Method: nvdisasm's text is cut into basic blocks at labels and after branches. Blocks of PTX and of machine code are
// aligned in their order (dynamic programming): a pair needs the same accesses of each kind (loads and stores of
// global, shared and local memory, atomics, barriers, textures), in which it then executes the machine code and takes
// the addresses in their order. Parameters and constants are operands in machine code.
// Limits: one block of PTX is at most one of machine code, so that a loop which ptxas unrolled is matched to its
// remainder, if at all. What is not matched runs in the order of the PTX; results do not pass between the two.
// nvdisasm's text only; compute capability 5.0 and later.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/ake/code.hpp"

namespace kernelcast::model::ake {

// Basic blocks of one kernel in the order of the listing; items number the accesses of a block from 0.
struct Listing {
  std::vector<std::vector<Instruction>> blocks;
  std::size_t instructions = 0;
};

// Kernels by their names in the listing. Throws Error(bad_data) with line and column for an instruction that has no
// form of nvdisasm's, and for a text without any kernel.
std::map<std::string, Listing> read_listing(std::string_view text, std::string const& file);

// The listing of a kernel, by its name or a mangled one that holds it; nullptr where there is none.
Listing const* find_listing(std::map<std::string, Listing> const&, std::string const& kernel);

struct Matched {
  Kernel kernel;             // blocks numbered as in the PTX
  std::size_t blocks = 0;    // that are machine code now
  std::size_t accesses = 0;  // in them, of accesses_all
  std::size_t accesses_all = 0;
};
Matched match(Listing const&, Kernel const&);

}  // namespace kernelcast::model::ake
