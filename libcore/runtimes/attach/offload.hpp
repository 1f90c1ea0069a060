// Programs with regions of OpenMP (target) or OpenACC that GCC or clang compiled: what they need to run on our device.
//
// GCC puts their PTX into the program, and libgomp loads a plug-in of its own that calls CUDA's driver. clang puts
// machine code into it, or bitcode that libomptarget compiles. Where something is missing the regions run on the host,
// unless OMP_TARGET_OFFLOAD=mandatory says that this is an error.
#pragma once

#include <string>
#include <vector>

namespace kernelcast::attach {

// Regions that do not run on the device are an error, unless the user has decided otherwise.
void put_offload(std::vector<std::string>& variables);

// Why the regions of a program that never launched a kernel may have run on the host, or could not run, and what to do:
// a hint, by what its file holds and by whether it called CUDA. Empty for a program without regions, where the file
// cannot be read, and where nothing is missing.
std::string hint_of_offload(std::string const& program, bool called_cuda);

}  // namespace kernelcast::attach
