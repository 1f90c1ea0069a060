// A program that is linked of several, by the driver (cuLink…) or by nvJitLink. What comes out is PTX, which is what
// modules are loaded from here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/driver.hpp"
#include "kernels/ptx/module.hpp"
#include "runtimes/cudart/errors.hpp"

namespace kernelcast::driver {

struct Link {
  std::vector<std::unique_ptr<ptx::Module>> parts;
  std::string linked;
  std::uint64_t max_registers = 0;  // of each kernel that has no bound of its own; 0: any number
};

enum class PartKind : std::uint8_t { cubin, ptx, fatbin, object, library };

// What begins as a fat binary does is one, whatever `kind` says; a library without PTX (CUDA's own runtime of the
// device) is left out. Throws Error where the PTX is bad.
Code add_part(Link&, PartKind, void const* data, std::size_t size, char const* name, std::uint32_t capability);

// Throws Error where the parts do not fit.
void complete(Link&);

// The whole file, and a zero behind it.
std::optional<std::vector<char>> content_of(char const* path);

}  // namespace kernelcast::driver
