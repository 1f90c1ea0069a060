#include "base/diag/names.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace kernelcast {

std::string demangled(std::string const& name) {
  if (!name.starts_with("_Z")) return name;  // else "f" would be read as the type float
  std::unique_ptr<char, void (*)(void*)> const text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, nullptr),
                                                    std::free);
  return text ? std::string(text.get()) : name;
}

std::string function_name(std::string const& name) {
  auto text = demangled(name);
  if (text == name) return name;
  for (std::string_view const hidden = "(anonymous namespace)::"; text.find(hidden) != std::string::npos;)
    text.erase(text.find(hidden), hidden.size());
  int depth = 0;
  std::size_t begin = 0, end = 0;  // behind the result, and before the parameters
  for (; end < text.size() && (depth > 0 || text[end] != '('); ++end) {
    depth += text[end] == '<' ? 1 : text[end] == '>' ? -1 : 0;
    if (depth == 0 && text[end] == ' ') begin = end + 1;
  }
  auto const out = text.substr(begin, end - begin);
  return out.empty() ? text : out;
}

std::string name_in_source(std::string const& name) {
  auto const known = function_name(name);
  return known == name ? name : known.substr(0, known.find('<'));
}

std::string region_of_kernel(std::string const& name) {
  constexpr std::string_view digits = "0123456789";
  auto const mark = name.find_last_not_of(digits);
  if (mark == std::string::npos || mark + 1 == name.size() || name[mark] != '#' || mark == 0) return name;
  auto const colon = name.find_last_not_of(digits, mark - 1);
  bool const line = colon != std::string::npos && colon > 0 && colon + 1 < mark && name[colon] == ':';
  return line ? name.substr(0, mark) : name;
}

}  // namespace kernelcast
