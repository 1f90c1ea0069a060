// PTX in files of machine code (cubin, ELF).
//
// ptxas leaves the PTX in a section of the file where it is to leave information for debuggers (-g, -lineinfo). And
// libomptarget, which runs regions of OpenMP that clang compiled, finds how a kernel is to be launched among the values
// of variables in the file: where it has such a file made for the emulator it needs these besides the PTX.
#pragma once

#include <string>
#include <vector>

#include "kernels/ptx/module.hpp"

namespace kernelcast::ptx {

// The module's text, its variables with the values that they begin with (addresses are zero), and a symbol for each
// variable and function.
std::string image_of(Module const&);

// Of each source that was linked; none where there is only machine code, and for bytes that are no ELF file of it.
std::vector<std::string> texts_in_image(void const* bytes);

}  // namespace kernelcast::ptx
