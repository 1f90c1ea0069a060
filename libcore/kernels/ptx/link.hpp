// Several PTX texts to one, as the device's linker joins files that were compiled apart (nvcc -rdc=true).
//
// A definition takes the place of the others' .extern declarations, of several .weak or .common ones the first counts.
// A name without linkage belongs to its text: where another text has it, too, it gets a suffix ($2, $3, …, the number
// of its text). Limits: what is declared and nowhere defined stays a declaration, and is refused when it is reached.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/ptx/module.hpp"

namespace kernelcast::ptx {

// Names and source positions of the parts are changed. Throws Error where two parts define the same name or where a
// declaration and a definition do not agree.
std::string link(std::vector<std::unique_ptr<Module>> parts);

}  // namespace kernelcast::ptx
