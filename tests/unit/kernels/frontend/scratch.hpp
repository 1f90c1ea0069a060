// What these tests share: a private cache folder, and where their sources are.
#pragma once

#include <cstdlib>
#include <string>

#include "base/process/process.hpp"
#include "environment.hpp"
#include "kernels/frontend/frontend.hpp"
#include "kernels/frontend/toolchain.hpp"

namespace kernelcast::frontend {

inline std::string data(std::string const& name) {
  return std::string(KERNELCAST_SOURCE_DIR) + "/tests/unit/kernels/frontend/data/" + name;
}

inline bool has_opencl() {
  auto const tools = find_toolchain();
  return !tools.clang.empty() && !tools.libclc.empty();
}

inline KernelInfo const& kernel(CompiledText const& c, std::string const& name) {
  return find_kernel(c.kernels, name, "test");
}

}  // namespace kernelcast::frontend
