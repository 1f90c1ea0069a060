// Groups of fewer than 32 work-items that share a word of 32 lanes (Lanes::group_lanes). A copy for each file that
// includes it: these are compiled for different instruction-set levels.
#pragma once

#include <bit>
#include <cstdint>

namespace kernelcast::emu {
namespace {

// The first bit of each group of `lanes` bits.
template <class Word>
constexpr Word first_bits(std::uint32_t lanes) {
  return ~Word{0} / ((Word{1} << lanes) - 1);
}
// The first bit of each group that has a bit; `lanes` is a power of two below 32.
template <class Word>
[[maybe_unused]] constexpr Word groups_with_lanes(Word mask, std::uint32_t lanes) {
  for (std::uint32_t shift = 1; shift < lanes; shift *= 2) mask |= mask >> shift;
  return mask & first_bits<Word>(lanes);
}
template <class Word>
[[maybe_unused]] constexpr std::uint32_t groups_in(Word mask, std::uint32_t lanes) {
  return static_cast<std::uint32_t>(std::popcount(groups_with_lanes(mask, lanes)));
}

}  // namespace
}  // namespace kernelcast::emu
