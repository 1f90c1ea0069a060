// What a source is, by its content and by its file's suffix: for all that keep sources, however little else they link.
//
// SPIR-V for OpenCL has the options of OpenCL C that ask for optimisations, and spirv_constants with "ID:TYPE:VALUE …"
// as llvm-spirv reads it, "-spec-const=7:i32:42 9:f32:0.5".
#pragma once

#include <string_view>

namespace kernelcast::frontend {

inline constexpr std::string_view spirv_suffix = ".spv", spirv_constants = "-spec-const=";

constexpr bool is_spirv(std::string_view content) {
  return content.starts_with(std::string_view("\x03\x02\x23\x07", 4));
}
// The one that a content for OpenCL has to have.
constexpr std::string_view opencl_suffix(std::string_view content) {
  return is_spirv(content) ? spirv_suffix : ".cl";
}
constexpr bool is_opencl(std::string_view path) {
  return path.ends_with(".cl") || path.ends_with(spirv_suffix);
}

}  // namespace kernelcast::frontend
