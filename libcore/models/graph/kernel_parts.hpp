// Over how many GPUs each kernel of a recorded program is divided.
//
// Problem: a kernel with little work costs more to spread than it gains; the best number of GPUs changes along a
// program
// ([braun] 3.1.2, future work). Method: all kernels start with all parts; then each kernel in turn gets the number, of
// powers of two and all, with the least simulated time of the whole program, until none changes.
// Limits: a local optimum of one change at a time, never worse than all kernels on all parts; launches of one kernel
// have the same number; a kernel that uses fewer parts uses the first of them.
#pragma once

#include "models/graph/study.hpp"

namespace kernelcast::graph {

// Leaves the study with the result. The point must be feasible.
KernelParts choose_kernel_parts(Study& study, double n, std::uint32_t parts, Placement const& placement);

}  // namespace kernelcast::graph
