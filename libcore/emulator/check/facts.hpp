// What the checks read off a kernel's text: which accesses are atomic, where lanes and memory are synchronised within a
// basic block, which registers are read at all.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/emu.hpp"

namespace kernelcast::emu {

// Something between two instructions of a block that orders memory accesses.
enum class SyncPoint : std::uint8_t {
  warp,   // bar.warp.sync: lanes of a warp
  fence,  // membar, fence: what came before may be released by an atomic
  group,  // mbarrier and what is like it: taken as ordering the whole group
};

struct Facts {
  explicit Facts(Program const&);

  struct Site {
    std::uint16_t number = 0;    // 1 ... of memory instructions; last_site stands for all beyond
    bool strong = false;         // atomic, or ld/st.relaxed and stronger: no race with others that are strong
    bool strong_global = false;  // .volatile: strong in global memory only
    bool reads = false, writes = false;
    bool aligned = false;             // each lane's address to a multiple of all its bytes
    bool completes = false;           // a copy that completes an mbarrier's transactions
    bool asynchronous = false;        // its accesses to shared memory are the asynchronous proxy's: async.hpp
    bool releases = false;            // .release, .acq_rel: needs no fence before
    std::uint16_t points_before = 0;  // sync points of its block that come before it
    std::uint8_t elements = 1;        // of a vector access
    std::uint8_t unread = 0;          // bit i: element i is loaded into a register that nothing reads
  };
  std::vector<Site> sites;                     // [instruction]
  std::vector<std::uint32_t> instruction_of;   // [site number]
  std::vector<std::vector<SyncPoint>> points;  // [block], in order
  bool crowded = false;                        // last_site stands for several instructions, of which some may be strong
  bool any_points = false;
  bool any_asynchronous = false;
  bool any_release = false;  // some fence or release: atomics may order plain accesses

  static constexpr std::uint16_t last_site = 511;
};

}  // namespace kernelcast::emu
