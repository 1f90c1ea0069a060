// What vendors' compilers of OpenCL C accept and clang refuses.
#pragma once

#include <string>
#include <vector>

#include "kernels/frontend/build.hpp"

namespace kernelcast::frontend {

// Options with which clang accepts what it has just complained of, each once, with what it means; empty where nothing
// helps. `given` are the options so far.
struct Leniency {
  std::vector<std::string> options;
  std::string note;  // "asm is taken as a keyword, as NVIDIA's compiler does"
};
std::vector<Leniency> leniencies(Build const&, std::string const& complaints, std::vector<std::string> const& given);

}  // namespace kernelcast::frontend
