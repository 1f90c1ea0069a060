// A model as JSON, described in kernelcast-records(5).
//
// Problem: a model must outlive its program, describe itself, and must be safe to read from an untrusted source.
// Method: names, settings and provenance are plain JSON; the trees' arrays are base64 of little-endian numbers. Reading
// checks every count, name and number before anything is used; errors name the field.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "models/forest/model.hpp"

namespace kernelcast::forest {

inline constexpr std::uint64_t model_version = 3;
inline constexpr std::uint64_t min_model_version = 2;  // had no target_form

// The same model gives the same text, whatever the number of threads.
std::string model_text(Model const&);

// Throws Error(bad_data) for what is not a model, of another version, truncated or inconsistent.
Model parse_model(std::string_view text, std::string const& file);

}  // namespace kernelcast::forest
