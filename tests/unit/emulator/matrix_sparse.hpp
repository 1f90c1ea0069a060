// Matrices of 16 rows of which half of each row is zero, with their metadata: the layouts of the PTX manual's figures,
// as these write them.
#pragma once

#include "matrix_bench.hpp"

namespace kernelcast::emu::test {

// Lane and lowest bit of the four bits about the chunk of this row that begins at column `first`. [ptx] "Tk: [m..n] in
// cell [x][y..z]".
inline std::pair<int, int> metadata_at(int bits, int k, int row, int first, int selector) {
  int const quad = row % 8 * 4;
  bool const upper = row >= 8;
  if ((bits == 16 && k == 16) || (bits == 32 && k == 8))
    return {quad + selector, (upper ? 16 : 0) + (bits == 16 ? first : 2 * first)};
  if (bits == 16) return {quad + 2 * selector + (first < 16 ? 0 : 1), (upper ? 16 : 0) + first % 16};
  if (bits == 32) return {quad + 2 * selector + (first < 8 ? 0 : 1), (upper ? 16 : 0) + 2 * (first % 8)};
  int const of_lane = bits == 8 ? 32 : 64;
  if (k == of_lane) return {quad + 2 * selector + (upper ? 1 : 0), first * 32 / of_lane};
  return {quad + (first < of_lane ? 0 : 2) + (upper ? 1 : 0), first % of_lane * 32 / of_lane};
}
inline int selectors_of(int bits, int k) {
  int const bits_of_row = bits == 32 ? 2 * k : bits == 4 ? k / 2 : k;
  return bits_of_row == 16 ? 4 : bits_of_row == 32 ? 2 : 1;
}

struct Sparse {
  Codes whole, stored;
  std::vector<std::uint32_t> metadata;
};
// A random A with its zeros; indices ascend, or not.
inline Sparse sparse_matrix(Random& random, Format const& f, int k, int selector, bool ordered) {
  Codes const values = random_codes(random, f, 16, k / 2);
  Sparse s{Codes(16, k), Codes(16, k / 2), std::vector<std::uint32_t>(32)};
  for (std::uint64_t& code : s.whole.code) code = f.encode(0);
  for (std::uint32_t& word : s.metadata) word = static_cast<std::uint32_t>(random());  // of lanes that have none
  int const bits = static_cast<int>(f.bits), chunk = bits == 32 ? 2 : bits == 4 ? 8 : 4, unit = bits == 4 ? 2 : 1;
  for (int row = 0; row < 16; ++row)
    for (int first = 0; first < k; first += chunk) {
      int places[2] = {static_cast<int>(random.below(4)), 0};
      do places[1] = static_cast<int>(random.below(4));
      while (places[1] == places[0]);
      if (ordered && places[0] > places[1]) std::swap(places[0], places[1]);
      std::uint32_t indices = static_cast<std::uint32_t>(places[0] | places[1] << 2);
      if (bits == 32) {  // one of two: 0b0100 or 0b1110
        bool const second = random() & 1;
        indices = second ? 0xe : 0x4;
        s.whole(row, first + second) = s.stored(row, first / 2) = values(row, first / 2);
      } else {
        for (int n = 0; n < chunk / 2; ++n)
          s.whole(row, first + places[n / unit] * unit + n % unit) = s.stored(row, first / 2 + n) =
              values(row, first / 2 + n);
      }
      auto const [lane, bit] = metadata_at(bits, k, row, first, selector);
      std::uint32_t& word = s.metadata.at(static_cast<std::size_t>(lane));
      word = (word & ~(0xfu << bit)) | indices << bit;
    }
  return s;
}

}  // namespace kernelcast::emu::test
