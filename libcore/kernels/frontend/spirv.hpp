// SPIR-V as LLVM IR that the rest takes for that of OpenCL C.
#pragma once

#include <string>
#include <vector>

#include "kernels/frontend/build.hpp"

namespace kernelcast::frontend {

// LLVM IR in text form of a file of SPIR-V; what it calls is defined in a file of bitcode that is added to build.spirv.
// `name`: of files in the scratch folder. Throws Error: unavailable (llvm-spirv is not installed), bad_data, limit.
std::string spirv_text(Build&, std::string const& path, std::vector<std::string> const& options,
                       std::string const& name);

}  // namespace kernelcast::frontend
