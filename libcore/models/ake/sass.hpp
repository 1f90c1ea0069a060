// The machine code of kernels, from a disassembler's listing.
//
// Each instruction of a listing (kernels/sass/sass.hpp) gets its class, its kind of access and its registers.
// Parameters and constants are operands in machine code. How the blocks belong to those of the PTX: match.hpp.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "models/ake/code.hpp"

namespace kernelcast::model::ake {

// Basic blocks of one kernel in the order of the listing.
struct Listing {
  std::vector<std::vector<Instruction>> blocks;
  std::size_t instructions = 0;
};

// Kernels by their names in the listing. Throws Error(bad_data) with line and column for an instruction that has no
// form of nvdisasm's, and for a text without any kernel.
std::map<std::string, Listing> read_listing(std::string_view text, std::string const& file);

// The listing of a kernel, by its name or a mangled one that holds it; nullptr where there is none.
Listing const* find_listing(std::map<std::string, Listing> const&, std::string const& kernel);

}  // namespace kernelcast::model::ake
