// Module to PTX text, for tools that change a module.
//
// The text is normal form: one declaration per register, scopes flattened, constants folded, no comments and no debug
// sections. Names that several scopes share get a suffix ($s1, $s2, …). parse(print(m)) has m's structure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/ptx/module.hpp"

namespace kernelcast::ptx {

std::string print(Module const&);
std::string print_without(Module const&, std::vector<std::uint32_t> const& kernels);  // by their indices in functions
std::string print_continued(Module const&);  // without .version, .target and .address_size: to stand behind another

}  // namespace kernelcast::ptx
