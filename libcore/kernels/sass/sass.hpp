// Machine code of NVIDIA devices (SASS), as nvdisasm lists it.
//
// Problem: PTX is not what a device runs; where ptxas and a disassembler are at hand, the listing is.
// Method: the text is cut into basic blocks at labels that are jumped to and after branches. With `nvdisasm -gp` of
// code that was assembled with -lineinfo, each instruction knows its line of the PTX. Limits: nvdisasm's text only;
// compute capability 5.0 and later.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "records/pipe.hpp"

namespace kernelcast::sass {

// Views point into the listing's text.
struct Instruction {
  std::string_view text;   // "@!P0 LDG.E R3, [R4.64]"
  std::uint32_t line = 0;  // of the PTX; 0: unknown

  std::string_view guard() const;     // "@!P0"; empty without
  std::string_view opcode() const;    // "LDG.E"
  std::string_view mnemonic() const;  // "LDG"
  std::string_view target() const;    // of a branch or a call: the label in `(…); empty without
  bool ends_block() const;            // branches, calls, exits
};

struct Block {
  std::vector<Instruction> instructions;
  std::vector<std::string_view> labels;
  std::string_view subroutine;  // of the assembler, behind the kernel's own code; empty: the kernel
};

struct Code {
  std::vector<Block> blocks;  // in the order of the listing
  std::size_t instructions = 0;
};

// Kernels by their names in the listing. Throws Error(bad_data) with line and column for an instruction that has no
// form of nvdisasm's, and for a text without any kernel.
std::map<std::string, Code> read(std::string_view text, std::string const& file);

// The pipe to which an instruction is issued, by its opcode with modifiers.
record::Pipe pipe_of(std::string_view opcode);

}  // namespace kernelcast::sass
