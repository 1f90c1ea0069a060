// Counting in a bitmap of 32-byte sectors that begins at a 128-byte border.
// In an unnamed namespace: the files that include it are compiled for different instruction-set levels.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace kernelcast::emu {
namespace {

constexpr std::uint64_t fold_pairs(std::uint64_t m) {
  return (m | m >> 1) & 0x5555555555555555;
}
constexpr std::uint64_t fold_quads(std::uint64_t pairs) {
  return (pairs | pairs >> 2) & 0x1111111111111111;
}

[[maybe_unused]] void add_bitmap(std::uint64_t sectors, std::array<std::uint16_t, 3>& tx) {
  std::uint64_t const pairs = fold_pairs(sectors);
  tx[0] += static_cast<std::uint16_t>(std::popcount(sectors));
  tx[1] += static_cast<std::uint16_t>(std::popcount(pairs));
  tx[2] += static_cast<std::uint16_t>(std::popcount(fold_quads(pairs)));
}

[[maybe_unused]] void add_shrunk(std::uint64_t sectors, unsigned bytes, std::array<std::uint16_t, 3>& cc13) {
  auto const add = [&](unsigned s, std::uint64_t m) { cc13[s] += static_cast<std::uint16_t>(std::popcount(m)); };
  if (bytes == 1) return add(0, sectors);
  std::uint64_t const used = fold_pairs(sectors);                          // bit 2k: pair k
  std::uint64_t const full = sectors & sectors >> 1 & 0x5555555555555555;  // both its sectors
  if (bytes == 2) {
    add(1, full);
    return add(0, used & ~full);
  }
  std::uint64_t const quad = used & used >> 2 & 0x1111111111111111;  // bit 4k: both pairs of quad k
  std::uint64_t const in_quad = quad | quad << 2;
  add(2, quad);
  add(1, full & ~in_quad);
  add(0, used & ~full & ~in_quad);
}

}  // namespace
}  // namespace kernelcast::emu
