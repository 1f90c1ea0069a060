// Static libraries of bitcode, as ar makes them of seqprof-cc's objects. No linker of the system looks into them; what
// a program needs of them is taken out instead, by the rule of linkers: a member that defines what is missing so far.
#pragma once

#include "base/process/process.hpp"
#include "sequential/driver/compile.hpp"

namespace kernelcast::seq {

// Archives among link.others, named by path or as -lNAME in a folder of -L, that hold bitcode: their members that are
// needed join link.bitcode, or replace the archive where they are machine code. Other archives stay as they
// are. Limits: archives are searched together, again and again, whatever their order; System V and GNU archives, thin
// ones too. Throws Error(bad_data) for an archive that is cut off, Error(unavailable) without llvm-nm-19.
void unpack_archives(CompilerTools const&, Link&, TemporaryFolder const& scratch);

}  // namespace kernelcast::seq
