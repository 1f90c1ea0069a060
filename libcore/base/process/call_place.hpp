// From where a library of ours was called, for messages about what the call made.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/diag/diag.hpp"

namespace kernelcast {

// Return addresses outside the library and those that stand between it and the program, such as a static CUDA runtime,
// innermost first; null behind the last.
using CallPlace = std::array<void const*, 6>;
CallPlace call_place();

// "at saxpy.cu:41" where the program has lines, else "by main in saxpy", else "in saxpy"; empty where nothing is known.
// Lines take llvm-symbolizer or addr2line; a place is looked up once. Thread safe.
std::string text_of(CallPlace const&);

// The function and "file:line" of an offset in an ELF file; what is not known is empty.
struct SourcePlace {
  std::string function;
  Where line;
};
SourcePlace source_place(std::string const& module, std::string const& offset);

}  // namespace kernelcast
