// PTX text to Module: the whole grammar of the PTX ISA, .version 1.0 to 9.x.
//
// Every name is resolved and every constant expression folded. Opcodes and their modifiers are not checked: an
// unknown instruction parses, and is refused when it is executed. Debug sections are checked and dropped.
// Registers of a parameterised declaration (%r<100>) become Register entries when first used.
//
// Limits, against hostile text: 1 GiB of text, 200 nested scopes, 100 nested parentheses or braces, 2^24 registers per
// declaration, 2^40 bytes per variable. Memory is a small multiple of the text, whatever numbers it declares.
#pragma once

#include <memory>
#include <string>

#include "kernels/ptx/module.hpp"

namespace kernelcast::ptx {

// `path` is for messages only. Throws Error(bad_data) with file, line, column, the line and a hint.
std::unique_ptr<Module> parse(std::string text, std::string path);

}  // namespace kernelcast::ptx
