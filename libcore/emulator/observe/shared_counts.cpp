// count_shared(): see transactions.hpp.
//
// The 64 lanes are cut into the requests of 16-lane wavefronts; each marks, per bank, which rows of banks it uses, as a
// bitmap of 64 rows. Wider wavefronts' requests are unions of these, so their degrees are population counts of ORs.
// Requests that span more than 64 rows are counted with a list of words per bank.

#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/observe/counting.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {

namespace {

constexpr unsigned lanes = 64;

using Rows = std::array<std::uint64_t, 32>;  // per bank, a bitmap of rows

unsigned degree(Rows const& rows) {
  unsigned most = 0;
  for (unsigned bank = 0; bank < 32; ++bank) most = std::max<unsigned>(most, std::popcount(rows[bank]));
  return most;
}

// First and last word of each active lane, relative to a row's begin.
struct Words {
  std::array<std::uint32_t, lanes> first, last;
  std::uint32_t least = ~0u, most = 0;
};

Words words_of(WaveAccess const& a, unsigned shift) {
  Words words;
  for (std::uint64_t m = a.mask; m; m &= m - 1) {
    unsigned const l = std::countr_zero(m);
    std::uint64_t const address = a.base + a.offsets[l];
    words.first[l] = static_cast<std::uint32_t>(address >> shift);
    words.last[l] = static_cast<std::uint32_t>((address + a.bytes - 1) >> shift);
    words.least = std::min(words.least, words.first[l]);
    words.most = std::max(words.most, words.last[l]);
  }
  return words;
}

// Passes of 32 banks of (1 << shift) bytes, for the three widths; column `c` of the result.
void count_32_banks(WaveAccess const& a, unsigned shift, unsigned c, SharedCounts& counts) {
  Words const words = words_of(a, shift);
  unsigned const parts = std::max(1u, a.bytes >> shift);  // requests per wavefront
  unsigned const size = 16 / std::min(parts, 16u);        // lanes of the smallest request
  std::uint32_t const base = words.least & ~31u;
  if (words.most - base >= 64 * 32) return count_32_banks_slowly(a, shift, c, counts);
  unsigned const requests = lanes / size;
  std::array<Rows, lanes> rows;
  std::memset(rows.data(), 0, requests * sizeof(Rows));
  for (std::uint64_t m = a.mask; m; m &= m - 1) {
    unsigned const l = std::countr_zero(m);
    for (std::uint32_t word = words.first[l]; word <= words.last[l]; ++word)
      rows[l / size][word & 31] |= std::uint64_t{1} << ((word - base) >> 5);
  }
  for (unsigned w = 0, n = requests; w < 3; ++w, n /= 2) {
    unsigned passes = 0;
    for (unsigned i = 0; i < n; ++i) passes += degree(rows[i]);
    counts.passes[w][c] = static_cast<std::uint16_t>(passes);
    for (unsigned i = 0; i < n / 2; ++i)
      for (unsigned bank = 0; bank < 32; ++bank) rows[i][bank] = rows[2 * i][bank] | rows[2 * i + 1][bank];
  }
}

// One request on 16 banks: lanes of a bank queue up; those that use one and the same word may go together, for one
// word.
unsigned degree_16_banks(std::uint64_t mask, Words const& words) {
  std::array<unsigned, 16> load{};
  auto const add = [&](std::array<unsigned, 16>& loads, unsigned l, unsigned times) {
    for (std::uint32_t word = words.first[l]; word <= words.last[l]; ++word) loads[word & 15] += times;
  };
  for (std::uint64_t m = mask; m; m &= m - 1) add(load, static_cast<unsigned>(std::countr_zero(m)), 1);
  unsigned best = *std::max_element(load.begin(), load.end());
  if (best <= 1) return best;
  for (std::uint64_t rest = mask; rest;) {
    auto const l = static_cast<unsigned>(std::countr_zero(rest));
    unsigned lanes_of_word = 0;
    for (std::uint64_t m = rest; m; m &= m - 1) {
      auto const other = static_cast<unsigned>(std::countr_zero(m));
      if (words.first[other] != words.first[l] || words.last[other] != words.last[l]) continue;
      ++lanes_of_word;
      rest &= ~(std::uint64_t{1} << other);
    }
    if (lanes_of_word == 1) continue;
    auto broadcast = load;
    add(broadcast, l, 0u - (lanes_of_word - 1));
    best = std::min(best, *std::max_element(broadcast.begin(), broadcast.end()));
  }
  return best;
}

void count_16_banks(WaveAccess const& a, SharedCounts& counts) {
  Words const words = words_of(a, 2);
  unsigned const size = 16 / std::min(std::max(1u, a.bytes / 4), 16u);
  unsigned passes = 0;
  for (unsigned begin = 0; begin < lanes; begin += size)
    passes += degree_16_banks(a.mask & ((std::uint64_t{1} << size) - 1) << begin, words);
  for (unsigned w = 0; w < 3; ++w) counts.passes[w][0] = static_cast<std::uint16_t>(passes);
}

// The two commonest patterns of 4-byte words, for any mask: every lane the same word, and lane l the word first + l.
// False for any other pattern.
bool count_regular(WaveAccess const& a, SharedCounts& counts) {
  auto const first_lane = static_cast<unsigned>(std::countr_zero(a.mask));
  std::uint32_t const first = a.offsets[first_lane];
  if (a.bytes != 4 || ((a.base + first) & 3) != 0) return false;
  std::uint32_t not_uniform = 0, not_consecutive = 0;
  for (std::uint64_t m = a.mask; m; m &= m - 1) {
    auto const l = static_cast<unsigned>(std::countr_zero(m));
    std::uint32_t const distance = a.offsets[l] - first;
    not_uniform |= distance;
    not_consecutive |= distance ^ 4 * (l - first_lane);
  }
  if (not_uniform && not_consecutive) return false;
  std::array<std::uint16_t, 3> requests{};  // wavefronts of each width with an active lane
  for (unsigned w = 0; w < 3; ++w)
    for (unsigned begin = 0; begin < lanes; begin += 16u << w)
      requests[w] += (a.mask >> begin & ~std::uint64_t{0} >> (64 - (16u << w))) != 0;
  for (unsigned w = 0; w < 3; ++w) counts.passes[w] = {requests[0], requests[w], requests[w]};
  if (!not_consecutive) {
    // Lanes l and l + 32 use one bank of 32. With banks of 8 bytes two lanes share a word; only when the pairs begin at
    // an odd lane are there 33 words, the first and the last in one bank.
    if (a.mask & a.mask >> 32) counts.passes[2][1] = 2;
    std::uint64_t const word_of_lane_0 = ((a.base + first) >> 2) - first_lane;
    if ((word_of_lane_0 & 1) && (a.mask & 1) && a.mask >> 63) counts.passes[2][2] = 2;
  }
  return true;
}

}  // namespace

SharedCounts count_shared(WaveAccess const& a) {
  SharedCounts counts;
  if (!a.mask || count_regular(a, counts)) return counts;
  count_16_banks(a, counts);
  count_32_banks(a, 2, 1, counts);
  count_32_banks(a, 3, 2, counts);
  return counts;
}

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
