// Kernels that a compiler made of a region of OpenMP or OpenACC, by the names that rows have.
//
// GCC names such a kernel FUNCTION$_omp_fn$NUMBER and leaves its lines in the PTX where the program was built with -g.
// OpenMP's kernels only start the team; the region's code is in FUNCTION$_omp_fn$NUMBER$impl. clang's names have the
// line:
// __omp_offloading_DEVICE_FILE_FUNCTION_lLINE, and _NUMBER behind it where the line has several.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/ptx/module.hpp"

namespace kernelcast::ptx {

// A kernel of OpenMP, by the names that its parameters have (GCC, nvptx.cc, write_omp_entry). The second one is where
// the stacks of all threads of its teams begin.
bool starts_teams(Function const& kernel);

// "heat::step:12", the function and the line where the region begins; "heat::step:12#2" of the second region of the
// module that begins there. The kernel's own name where it is of no region, or where its lines are unknown.
std::string name_in_rows(Module const&, Function const& kernel);

// File and line where the kernel's code begins in the source, of a region its directive; line 0 where it is not known.
struct SourceLine {
  std::string file;  // as the compiler was given it
  std::uint32_t line = 0;
};
SourceLine source_of(Module const&, Function const& kernel);

}  // namespace kernelcast::ptx
