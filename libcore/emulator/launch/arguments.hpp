// Parsing of one argument of a launch; used by both sources of plans.
#pragma once

#include "emulator/launch/launch.hpp"

namespace kernelcast::launch {

// A scalar, `local:BYTES`, `null`, `sampler:WORDS`, or a `buf:…` or image of its own, which is added to the plan.
// nullopt: none of these forms, perhaps a buffer's name.
std::optional<Argument> parse_argument(Text const&, Plan&, std::string const& folder);

// Does an argument begin as an image, a texture or a surface does?
bool is_image(std::string_view argument);
// Adds the image and its buffer to the plan; its number.
std::size_t add_image(std::string name, Text const&, Plan&, std::string const& folder);
std::size_t add_sampler(std::string_view words, Text const&, Plan&);

}  // namespace kernelcast::launch
