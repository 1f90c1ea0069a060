// How a program comes by its CUDA runtime, read from its ELF file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kernelcast::cuda {

enum class Linkage : std::uint8_t {
  unknown,  // no ELF file of 64 bits, such as a script
  none,     // neither device code nor a runtime: its libraries may have both
  shared,   // needs libcudart.so
  fixed,    // device code without the shared runtime: the static one is in it
};

// Of the program that a shell would start by this name. Never throws.
Linkage linkage_of(std::string const& program);

// What a section of a program or library holds, 16 MiB at most; empty where there is none. Never throws.
std::string section_of(std::string const& path, std::string_view name);

}  // namespace kernelcast::cuda
