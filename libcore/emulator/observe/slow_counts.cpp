// What the fast methods of global_counts.cpp and shared_counts.cpp do not cover, by plain sorted lists and searches.

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "emulator/observe/counting.hpp"
#include "emulator/observe/sector_bitmap.hpp"

namespace kernelcast::emu {

GlobalCounts count_global_slowly(WaveAccess const& a) {
  GlobalCounts counts;
  std::vector<std::uint64_t> sectors, part;
  for (unsigned w = 0; w < 3; ++w)
    for (unsigned begin = 0; begin < 64; begin += 16u << w) {
      sectors.clear();
      for (unsigned l = begin; l < begin + (16u << w); ++l) {
        if (!(a.mask >> l & 1)) continue;
        std::uint64_t const address = a.base + a.offsets[l];
        for (std::uint64_t s = address >> 5; s <= (address + a.bytes - 1) >> 5; ++s) sectors.push_back(s);
      }
      std::sort(sectors.begin(), sectors.end());
      sectors.erase(std::unique(sectors.begin(), sectors.end()), sectors.end());
      for (std::size_t i = 0; i < sectors.size();) {  // one 128-byte segment at a time
        std::uint64_t bitmap = 0;
        std::uint64_t const quad = sectors[i] >> 2;
        for (; i < sectors.size() && sectors[i] >> 2 == quad; ++i) bitmap |= std::uint64_t{1} << (sectors[i] & 3);
        add_bitmap(bitmap, counts.tx[w]);
        if (w == 0) add_shrunk(bitmap, a.bytes, counts.cc13);
      }
    }
  return counts;
}

void count_32_banks_slowly(WaveAccess const& a, unsigned shift, unsigned c, SharedCounts& counts) {
  unsigned const parts = std::max(1u, a.bytes >> shift);
  for (unsigned w = 0; w < 3; ++w) {
    unsigned const request = (16u << w) / std::min(parts, 16u);
    for (unsigned begin = 0; begin < 64; begin += request) {
      // Per bank, a chain of the words seen: head[bank], then next[]. A lane's words are at most 32 / 4 + 1.
      std::array<std::uint16_t, 32> head{}, length{};
      std::array<std::uint64_t, 64 * 9 + 1> seen;
      std::array<std::uint16_t, 64 * 9 + 1> next;
      std::uint16_t count = 0, most = 0;
      for (unsigned l = begin; l < begin + request; ++l) {
        if (!(a.mask >> l & 1)) continue;
        std::uint64_t const address = a.base + a.offsets[l];
        for (std::uint64_t word = address >> shift; word <= (address + a.bytes - 1) >> shift; ++word) {
          std::uint16_t at = head[word & 31];
          while (at && seen[at] != word) at = next[at];
          if (at) continue;
          seen[++count] = word;
          next[count] = head[word & 31];
          head[word & 31] = count;
          most = std::max(most, ++length[word & 31]);
        }
      }
      counts.passes[w][c] += most;
    }
  }
}

unsigned max_lanes_on_one_address(WaveAccess const& a) {
  std::array<std::uint32_t, 64> sorted;
  unsigned n = 0;
  bool uniform = true;
  for (std::uint64_t m = a.mask; m; m &= m - 1) {
    sorted[n] = a.offsets[std::countr_zero(m)];
    uniform &= sorted[n] == sorted[0];
    ++n;
  }
  if (uniform) return n;
  std::sort(sorted.begin(), sorted.begin() + n);
  unsigned most = 1;
  for (unsigned i = 1, run = 1; i < n; ++i) {
    run = sorted[i] == sorted[i - 1] ? run + 1 : 1;
    most = std::max(most, run);
  }
  return most;
}

}  // namespace kernelcast::emu
