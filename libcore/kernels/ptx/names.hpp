// From PTX words to enumerators; the other direction is in module.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/ptx/module.hpp"

namespace kernelcast::ptx {

std::optional<Type> find_type(std::string_view word);  // without the dot
// "%tid.x", "%clock"; with the index of %envreg<n> and %pm<n>. Special::other for known ones without an enumerator.
std::optional<std::pair<Special, std::uint64_t>> find_special(std::string_view word);
std::vector<std::string> special_names();

}  // namespace kernelcast::ptx
