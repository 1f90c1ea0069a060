// Kernels that a user names.
#pragma once

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace kernelcast::attach {

// "ns::scale" of "_ZN2ns5scaleIfEEvPT_": as the source has it, without arguments.
inline std::string name_in_source(std::string const& kernel) {
  char* const text = abi::__cxa_demangle(kernel.c_str(), nullptr, nullptr, nullptr);
  if (!text) return kernel;
  std::string out = text;
  std::free(text);
  for (std::string_view const hidden = "(anonymous namespace)::"; out.find(hidden) != std::string::npos;)
    out.erase(out.find(hidden), hidden.size());
  out = out.substr(0, out.find_first_of("(<"));
  return out.substr(out.rfind(' ') + 1);
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
