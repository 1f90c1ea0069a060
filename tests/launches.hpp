// Launches as arguments of a test program: FILE [--set NAME=VALUE|SET]..., several in a row.
#pragma once

#include <string_view>
#include <vector>

#include "launch/launch.hpp"

namespace kernelcast {

inline std::vector<launch::Plan> read_plans(char** first, char** last) {
  std::vector<launch::Plan> plans;
  while (first != last) {
    char const* const file = *first++;
    std::vector<std::string> sets;
    for (; last - first >= 2 && std::string_view(*first) == "--set"; first += 2) sets.emplace_back(first[1]);
    plans.push_back(launch::read_launch_file(file, {}, sets));
  }
  return plans;
}

}  // namespace kernelcast
