// From a launch file to what the two sides of a comparison need: its buffers filled as miniemu fills them, the
// emulator's result, and the same launches for an OpenCL device. One description, two machines.
#pragma once

#include <string>
#include <vector>

#include "emulator/launch/launch.hpp"
#include "opencl.hpp"
#include "references.hpp"

namespace kernelcast::suites {

Buffers initial_buffers(launch::Plan const& plan);

// All groups of all launches. `threads` must not change the result. Throws Error as launch::run does.
Buffers emulate(launch::Plan const& plan, unsigned threads);

// The calls in order. Throws std::invalid_argument for sizes given in groups.
std::vector<OpenClLaunch> opencl_launches(launch::Plan const& plan);
std::string opencl_options(launch::Plan const& plan);
std::string source_text(launch::Plan const& plan);

}  // namespace kernelcast::suites
