// The blocks of a row's accesses, eight at a time; compiled per instruction-set level like the distance engine.
#pragma once

#include <cstdint>

namespace kernelcast::seq {

// How addresses become block numbers while they stay in one region of 1 GiB (see BlockNumbers).
struct Numbering {
  std::uint64_t region = 0;
  std::uint32_t base = 0;
  unsigned shift = 3;
};

enum class RowKind { same, different, irregular };

struct RowBlocks {
  // Writes the blocks of this row to `now` and says whether they are those of `before`. Irregular: an access leaves its
  // block or the region; `now` is undefined then. Both have room for 8 blocks more.
  RowKind (*of_row)(std::uint64_t const* addresses, std::uint8_t const* sizes, std::uint32_t n, Numbering const&,
                    std::uint32_t const* before, std::uint32_t* now);
  // Keeps the blocks whose hash is at most `threshold`, in order; gives how many.
  std::uint32_t (*sample)(std::uint32_t* blocks, std::uint32_t n, std::uint32_t threshold);
};

RowBlocks row_blocks();  // of the best level that runs here

inline std::uint32_t hash_of(std::uint32_t block) {
  auto hash = block * 0x9E3779B1U;
  hash = (hash ^ hash >> 15) * 0x85EBCA6BU;
  return hash ^ hash >> 13;
}

}  // namespace kernelcast::seq
