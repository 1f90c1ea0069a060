// A launch as a launch file.
#pragma once

#include <map>
#include <string>

#include "intercept/cuda/forward/watch.hpp"

namespace kernelcast::cudart::forward {

// Why a launch has no description.
struct Refused {
  std::string why;
  bool left_error = false;  // in the runtime, by a call of ours
};

// Reads back what the launch takes into files of the spool, and publishes the program beside. Returns the launch file's
// text. Throws Refused.
std::string describe_launch(Kernel const&, ptx::Function const&, Launch const&,
                            std::map<std::uint64_t, std::uint64_t> const& memory, intercept::Spool const&,
                            std::uint64_t number);

}  // namespace kernelcast::cudart::forward
