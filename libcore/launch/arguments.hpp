// Parsing of one argument of a launch; used by both sources of plans.
#pragma once

#include "launch/launch.hpp"

namespace kernelcast::launch {

// A scalar, `local:BYTES`, or a `buf:…` of its own, which is added to `buffers`. nullopt: none of these forms, perhaps
// a buffer's name.
std::optional<Argument> parse_argument(Text const&, std::vector<Buffer>& buffers, std::string const& folder);

}  // namespace kernelcast::launch
