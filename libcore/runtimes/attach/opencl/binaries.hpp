// Programs from binaries whose source is known all the same: the application had read the binary from a program that
// it had built, in this run or in an earlier one that was attached to.
//
// Method: what clGetProgramInfo gives out is noted by its hash, with sources, options and headers, in the folder of
// the spool's programs, which lasts (pyopencl, hashcat and many others keep binaries in a cache of their own).
// Limits: a binary that was built without the layer has no source.
#pragma once

#include <string_view>
#include <vector>

#include "runtimes/attach/opencl/objects.hpp"

namespace kernelcast::attach {

void note_binary(std::string_view binary, std::vector<Unit> const&);
// Empty where it is not known.
std::vector<Unit> units_of(std::string_view binary);

}  // namespace kernelcast::attach
