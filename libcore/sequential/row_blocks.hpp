// The blocks of the accesses of many rows, eight words at a time; compiled per instruction-set level like the distance
// engine.
#pragma once

#include <cstdint>

namespace kernelcast::seq {

// How addresses become block numbers: regions of 1 GiB have a base each (see BlockNumbers).
inline constexpr std::uint32_t no_base = ~std::uint32_t{0};
struct Numbering {
  std::uint32_t const* bases = nullptr;        // of the 2^14 regions; no_base where none was referenced yet
  std::uint64_t region = 0, other_region = 0;  // that have a base; perhaps the same
  unsigned shift = 3;
};

// Rows of one descriptor, each a word of its own and then its addresses; sizes as in RowDescriptor.
struct Rows {
  std::uint64_t const* words = nullptr;
  std::uint32_t count = 0, stride = 0;  // rows, words of each
  std::uint8_t const* sizes = nullptr;
};

struct RowBlocks {
  // Writes the blocks of all accesses one after another and room for eight more; false where an access leaves its block
  // or a region has no base.
  bool (*of_rows)(Rows const&, Numbering const&, std::uint32_t* blocks);
  // Bit k of `different`: blocks[k] is not blocks[k - n]; n blocks stand before the first.
  void (*compare)(std::uint32_t const* blocks, std::uint32_t count, std::uint32_t n, std::uint64_t* different);
  // Of the words that are no row's first, the places of those whose block's hash is at most `threshold`, and of those
  // that an access of `largest` bytes would leave their block from; gives how many.
  std::uint32_t (*choose)(std::uint64_t const* words, std::uint32_t n, unsigned shift, std::uint32_t threshold,
                          std::uint64_t largest, std::uint32_t* places);
  // How many of n are equal before the first that differ.
  std::uint32_t (*agree)(std::uint32_t const* a, std::uint32_t const* b, std::uint32_t n);
  // The places of n blocks where a hash of three says that a repetition may be looked for, one in 64; two blocks more
  // are read. Gives how many.
  std::uint32_t (*anchors)(std::uint32_t const* blocks, std::uint32_t n, std::uint32_t* places);
};

RowBlocks row_blocks();  // of the level that is used, see distance.hpp

// Of three blocks; below anchor_limit at an anchor.
inline constexpr std::uint32_t anchor_limit = 1U << 26;
inline std::uint32_t hash_of_three(std::uint32_t const* blocks) {
  return (blocks[0] + (blocks[1] << 7) - blocks[1] + (blocks[2] << 15) + blocks[2]) * 0x9E3779B1U;
}

inline std::uint32_t hash_of(std::uint32_t block) {
  auto hash = block * 0x9E3779B1U;
  hash = (hash ^ hash >> 15) * 0x85EBCA6BU;
  return hash ^ hash >> 13;
}

}  // namespace kernelcast::seq
