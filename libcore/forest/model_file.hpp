// A model as JSON, described in kernelcast-records(5).
//
// Problem: a model must survive its program, say what it is, and must not harm who reads one from elsewhere.
// Method: names, settings and provenance are plain JSON; the trees' arrays are base64 of little-endian numbers. Reading
// checks every count, name and number before anything is used; what is wrong is said.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "forest/model.hpp"

namespace kernelcast::forest {

inline constexpr std::uint64_t model_version = 3;
inline constexpr std::uint64_t least_model_version = 2;  // had no target_form

// The same model gives the same text, whatever the number of threads.
std::string model_text(Model const&);

// Throws Error(bad_data) for what is no model, of another version, truncated or inconsistent.
Model parse_model(std::string_view text, std::string const& file);

}  // namespace kernelcast::forest
