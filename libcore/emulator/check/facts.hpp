// What the checks read off a kernel's text: which accesses are atomic, where lanes and memory are synchronised within a
// basic block, which memory a barrier orders, which registers are read at all.
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

// What a barrier orders, by its flags in OpenCL C: accesses to shared memory, to global memory.
inline constexpr std::uint8_t orders_shared = 1, orders_global = 2, orders_all = 3;

struct Facts {
  explicit Facts(Program const&);

  struct Point {
    SyncPoint kind{};
    std::uint32_t instruction = 0;
    std::uint8_t orders = orders_all;
    bool of_atomic = false;  // a fence that belongs to an atomic's memory order
  };
  struct Site {
    std::uint16_t number = 0;    // 1 ... of memory instructions; last_site stands for all beyond
    bool strong = false;         // atomic, or ld/st.relaxed and stronger: no race with others that are strong
    bool strong_global = false;  // .volatile: strong in global memory only
    bool reads = false, writes = false;
    bool aligned = false;              // each lane's address to a multiple of all its bytes
    bool completes = false;            // a copy that completes an mbarrier's transactions
    bool asynchronous = false;         // its accesses to shared memory are the asynchronous proxy's: async.hpp
    bool releases = false;             // .release, .acq_rel: needs no fence before
    std::uint16_t points_before = 0;   // sync points of its block that come before it
    std::uint8_t elements = 1;         // of a vector access
    std::uint8_t unread = 0;           // bit i: element i is loaded into a register that nothing reads
    std::uint8_t orders = orders_all;  // of a barrier
    bool has_flags = false;            // a barrier of OpenCL C, whose flags are known
    std::uint32_t first_of_line = 0;   // then: the first barrier of its line; compilers copy barriers
  };
  std::vector<Site> sites;                    // [instruction]
  std::vector<std::uint32_t> instruction_of;  // [site number]
  std::vector<std::vector<Point>> points;     // [block], in order
  bool crowded = false;                       // last_site stands for several instructions, of which some may be strong
  bool any_points = false;
  bool any_asynchronous = false;
  bool any_release = false;  // some fence or release: atomics may order plain accesses
  bool any_partial = false;  // some barrier does not order all memory

  static constexpr std::uint16_t last_site = 511;
};

}  // namespace kernelcast::emu
