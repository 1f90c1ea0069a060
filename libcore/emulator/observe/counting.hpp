// The functions of this folder that are compiled once per instruction-set level, and the choice among them.
#pragma once

#include "emulator/observe/access_site.hpp"
#include "emulator/observe/transactions.hpp"

#ifndef KERNELCAST_EMU_ISA
#define KERNELCAST_EMU_ISA base
#endif

namespace kernelcast::emu {

struct Counting {
  GlobalCounts (*count_global)(WaveAccess const&);
  SharedCounts (*count_shared)(WaveAccess const&);
  // Count one access of up to 256 lanes at its site; see access_site.hpp.
  void (*record_global)(AccessSite&, MemoryAccess const&, Footprint&);
  void (*record_shared)(AccessSite&, MemoryAccess const&);
};

// The cases that the levels leave to common code; see slow_counts.cpp.
GlobalCounts count_global_slowly(WaveAccess const&);
void count_32_banks_slowly(WaveAccess const&, unsigned shift, unsigned column, SharedCounts&);

// For the instruction-set level that emu::isa_level() names now; all levels count the same.
Counting const& counting();

namespace KERNELCAST_EMU_ISA {
GlobalCounts count_global(WaveAccess const&);
// The sum over groups of `lanes` lanes (a power of two, 4 to 16) that share the 64, each a wavefront of its own;
// weights[g] = tx[w32][s32] of group g.
GlobalCounts count_global_of_groups(WaveAccess const&, std::uint32_t lanes, PatternMemo::Weights& weights);
SharedCounts count_shared(WaveAccess const&);
void record_global(AccessSite&, MemoryAccess const&, Footprint&);
void record_shared(AccessSite&, MemoryAccess const&);
}  // namespace KERNELCAST_EMU_ISA

}  // namespace kernelcast::emu
