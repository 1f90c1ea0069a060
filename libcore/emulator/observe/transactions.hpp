// How many memory transactions and bank passes an access of 64 lanes needs, under every rule of the `kernel` record.
//
// Problem: one emulation must serve devices with wavefronts of 16, 32 and 64 lanes, segments of 32, 64 and 128 bytes,
// the shrinking half-warp segments of compute capability 1.2/1.3, and three kinds of shared-memory banks; all exact, in
// a few nanoseconds per wavefront.
// Method: one call counts for all widths at once. Offsets that never descend (or never ascend) inside the 64 lanes are
// counted by comparing neighbours; offsets within a window of 64 sectors by bitmaps; all others by comparing all pairs.
// Limits: exact for any mask, offsets and word size up to 32 bytes; words that are not aligned to their size go through
// a slower sorted list. Patterns that repeat are remembered by the caller (see access_site.hpp).
#pragma once

#include <array>
#include <cstdint>

namespace kernelcast::emu {

// The first lane of a 64-lane wavefront is bit 0; lanes 0..31 are its first warp, 0..15 its first half-warp.
struct WaveAccess {
  std::uint64_t mask = 0;                  // lanes that take part
  std::uint64_t base = 0;                  // address of offset 0
  std::uint32_t const* offsets = nullptr;  // [64] bytes; read only where the mask has a bit
  unsigned bytes = 4;                      // per lane: 1, 2, 4, 8, 16 or 32
};

// tx[w][s]: distinct aligned segments of 32 << s bytes, summed over the wavefronts of 16 << w lanes.
// cc13[s]: transactions of 32 << s bytes on compute capability 1.2/1.3 (CUDA C Programming Guide 4.2, F.3.2.2): for
// each half-warp, segments of 32 bytes for 1-byte words, 64 for 2-byte words, 128 for longer ones; a segment of which
// only one half is used shrinks to that half, down to 32 bytes.
struct GlobalCounts {
  std::array<std::array<std::uint16_t, 3>, 3> tx{};
  std::array<std::uint16_t, 3> cc13{};
  friend bool operator==(GlobalCounts const&, GlobalCounts const&) = default;
};
GlobalCounts count_global(WaveAccess const&);

// passes[w][banks], banks = 16 of 4 bytes, 32 of 4 bytes, 32 of 8 bytes.
// 32 banks: a wavefront of 16 << w lanes is one request when a lane moves no more than a bank is wide; with twice, four
// times that size a request is a half, a quarter of the wavefront. A request takes as many passes as the most
// loaded bank has distinct words; lanes that use the same word share it (compute capability 2.x and later, AMD).
// 16 banks (compute capability 1.x): a request is a half-warp whatever the wavefront, a half or quarter of it for 8-
// and 16-byte words. One word per request, as wide as the lanes' words and the most favourable one, is broadcast; every
// other lane takes a turn of its banks, even when lanes use the same word.
struct SharedCounts {
  std::array<std::array<std::uint16_t, 3>, 3> passes{};
  friend bool operator==(SharedCounts const&, SharedCounts const&) = default;
};
SharedCounts count_shared(WaveAccess const&);

// The largest number of lanes that use the same address; 0 for an empty mask.
unsigned max_lanes_on_one_address(WaveAccess const&);

}  // namespace kernelcast::emu
