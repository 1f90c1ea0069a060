// Kernels that a user names.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/diag/names.hpp"

namespace kernelcast::attach {

// Named as rows name it, or as the source does, with its namespaces or without. True of any kernel where none is named.
inline bool is_among(std::vector<std::string> const& named, std::string const& kernel) {
  auto const qualified = name_in_source(kernel);
  auto const plain = qualified.substr(qualified.rfind(':') + 1);
  return named.empty() || std::ranges::any_of(named, [&](std::string const& name) {
           return name == kernel || name == qualified || name == plain;
         });
}

}  // namespace kernelcast::attach
