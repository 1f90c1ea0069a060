// Kernels that a user names.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "diag/names.hpp"

namespace kernelcast::attach {

// "ns::scale" of "_ZN2ns5scaleIfEEvPT_": as the source has it, without arguments.
inline std::string name_in_source(std::string const& kernel) {
  auto const name = function_name(kernel);
  return name == kernel ? kernel : name.substr(0, name.find('<'));
}

// Named as rows name it, or as the source does, with its namespaces or without. True of any kernel where none is named.
inline bool is_among(std::vector<std::string> const& named, std::string const& kernel) {
  auto const qualified = name_in_source(kernel);
  auto const plain = qualified.substr(qualified.rfind(':') + 1);
  return named.empty() || std::ranges::any_of(named, [&](std::string const& name) {
           return name == kernel || name == qualified || name == plain;
         });
}

}  // namespace kernelcast::attach
