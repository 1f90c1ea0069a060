// count_global(): see transactions.hpp.
//
// What is sought for each wavefront width and segment size is the number of distinct segments. Two of the three
// methods find, for every lane, whether it is the first of its wavefront to touch its segment ("first-touch masks");
// the number is then a population count. The third collects sectors in a bitmap of 64 and folds it.

#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/observe/counting.hpp"
#include "emulator/observe/sector_bitmap.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {

namespace {

constexpr unsigned lanes = 64;
constexpr int few_lanes = 8;
using Addresses = std::array<std::uint32_t, lanes>;

// Sets `address` of lanes that take no part to that of a neighbour that does: within the same half-warp if it has one,
// else within the same warp, else anywhere. Such lanes then touch nothing new.
void fill_gaps(std::uint64_t mask, Addresses& address) {
  auto const last_active = [&](unsigned from, unsigned count) -> int {
    std::uint64_t const part = (mask >> from) & (~std::uint64_t{0} >> (64 - count));
    return part ? static_cast<int>(from + 63 - std::countl_zero(part)) : -1;
  };
  for (unsigned half = 0; half < 4; ++half) {
    unsigned const begin = half * 16;
    std::uint64_t const part = (mask >> begin) & 0xffff;
    std::uint32_t value = 0;
    if (part) {
      value = address[begin + std::countr_zero(part)];
    } else {
      unsigned const other_half = begin ^ 16;
      unsigned const other_warp = (begin ^ 32) & 32;
      std::uint64_t const later = (mask >> other_half) & 0xffff;
      // The neighbour on the side where this half-warp touches it, so that no false step appears between them.
      if (other_half < begin && later)
        value = address[last_active(other_half, 16)];
      else if (later)
        value = address[other_half + std::countr_zero(later)];
      else if (other_warp < begin)
        value = address[last_active(0, begin)];
      else
        value = address[std::countr_zero(mask)];
    }
    for (unsigned l = 0; l < 16; ++l) {
      if (part >> l & 1)
        value = address[begin + l];
      else
        address[begin + l] = value;
    }
  }
}

// Bit l = flags[l], which is 0 or 1.
std::uint64_t gather_bits(std::array<std::uint8_t, lanes> const& flags) {
  std::uint64_t mask = 0;
  for (unsigned i = 0; i < 8; ++i) {
    std::uint64_t eight;
    std::memcpy(&eight, flags.data() + 8 * i, 8);
    mask |= (eight * 0x0102040810204080ULL >> 56) << (8 * i);
  }
  return mask;
}

constexpr std::uint64_t warp_bits(unsigned warp) {
  return std::uint64_t{0xffffffff} << (32 * warp);
}
constexpr std::uint64_t half_bits(unsigned half) {
  return std::uint64_t{0xffff} << (16 * half);
}

// Half-warp segments after shrinking, from the lanes that touch a sector (32 bytes), pair (64) or quad (128) of sectors
// first in their half-warp.
// `span`: lanes of a half-warp, or fewer where groups are smaller.
void shrink(std::uint64_t first32, std::uint64_t first64, std::uint64_t first128, std::uint32_t const* address,
            unsigned bytes, std::array<std::uint16_t, 3>& cc13, unsigned span = 16) {
  auto const count = [](std::uint64_t m) { return static_cast<std::uint16_t>(std::popcount(m)); };
  std::uint16_t const n32 = count(first32), n64 = count(first64), n128 = count(first128);
  if (bytes == 1) {
    cc13 = {n32, 0, 0};
    return;
  }
  if (bytes == 2) {
    auto const both = static_cast<std::uint16_t>(n32 - n64);
    cc13 = {static_cast<std::uint16_t>(n64 - both), both, 0};
    return;
  }
  std::uint64_t const second_pair = first64 & ~first128;  // at most one lane for each 128-byte segment
  std::uint64_t second_sector = first32 & ~first64;
  unsigned pairs = 0;  // 64-byte halves used in full, in segments of which the other half is unused
  if (!second_pair)
    pairs = count(second_sector);
  else
    for (; second_sector; second_sector &= second_sector - 1) {
      unsigned const lane = std::countr_zero(second_sector);
      bool whole = false;
      for (std::uint64_t others = second_pair & ~std::uint64_t{0} >> (64 - span) << lane / span * span; others;
           others &= others - 1)
        whole |= (address[std::countr_zero(others)] ^ address[lane]) < 128;
      pairs += !whole;
    }
  auto const quads = count(second_pair);
  cc13 = {static_cast<std::uint16_t>(n128 - quads - pairs), static_cast<std::uint16_t>(pairs), quads};
}

// Addresses that never descend, or never ascend, within each wavefront: a segment's lanes are neighbours.
bool count_by_neighbours(std::uint64_t mask, Addresses const& address, unsigned bytes, GlobalCounts& counts) {
  unsigned rises = 0, falls = 0;
  for (unsigned l = 1; l < lanes; ++l) {
    rises |= address[l] > address[l - 1];
    falls |= address[l] < address[l - 1];
  }
  if (rises && falls) return false;
  std::array<std::uint64_t, 3> step{};
  std::array<std::uint8_t, lanes> flags;
  for (unsigned s = 0; s < 3; ++s) {
    flags[0] = 1;
    std::uint32_t const bound = 32u << s;
    for (unsigned l = 1; l < lanes; ++l) flags[l] = (address[l] ^ address[l - 1]) >= bound;
    step[s] = gather_bits(flags);
  }
  std::uint64_t half_starts = 0;
  unsigned halves = 0, warps = 0;
  for (unsigned h = 0; h < 4; ++h)
    if (mask & half_bits(h)) half_starts |= std::uint64_t{1} << (16 * h), ++halves;
  for (unsigned w = 0; w < 2; ++w) warps += (mask & warp_bits(w)) != 0;
  constexpr std::uint64_t half_borders = 0x0001000100010001, warp_borders = 0x0000000100000001;
  std::array<std::uint64_t, 3> first;
  for (unsigned s = 0; s < 3; ++s) {
    first[s] = (step[s] & ~half_borders) | half_starts;
    counts.tx[0][s] = static_cast<std::uint16_t>(std::popcount(first[s]));
    counts.tx[1][s] = static_cast<std::uint16_t>(std::popcount(step[s] & ~warp_borders) + warps);
    counts.tx[2][s] = static_cast<std::uint16_t>(std::popcount(step[s] & ~std::uint64_t{1}) + 1);
  }
  shrink(first[0], first[1], first[2], address.data(), bytes, counts.cc13);
  return true;
}

// Addresses within 64 sectors.
bool count_by_bitmap(std::uint64_t mask, Addresses const& address, unsigned bytes, GlobalCounts& counts) {
  std::uint32_t least = address[0], most = address[0];
  for (unsigned l = 1; l < lanes; ++l) least = std::min(least, address[l]), most = std::max(most, address[l]);
  std::uint32_t const base = least >> 5 & ~3u;
  if ((most >> 5) - base >= 64) return false;
  std::array<std::uint64_t, 4> half{};
  for (unsigned h = 0; h < 4; ++h) {
    if (!(mask & half_bits(h))) continue;
    std::uint64_t sectors = 0;
    for (unsigned l = 0; l < 16; ++l) sectors |= std::uint64_t{1} << ((address[16 * h + l] >> 5) - base);
    half[h] = sectors;
    add_bitmap(sectors, counts.tx[0]);
    add_shrunk(sectors, bytes, counts.cc13);
  }
  add_bitmap(half[0] | half[1], counts.tx[1]);
  add_bitmap(half[2] | half[3], counts.tx[1]);
  add_bitmap(half[0] | half[1] | half[2] | half[3], counts.tx[2]);
  return true;
}

// Sixteen lanes at once, whatever the host's vector length.
using Sixteen = std::uint32_t __attribute__((vector_size(64)));
using SixteenBytes = std::uint8_t __attribute__((vector_size(16)));

// Bit l = value[l] >= bound.
std::uint64_t at_least(Sixteen const& value, std::uint32_t bound) {
  auto const bytes = __builtin_convertvector(value >= bound, SixteenBytes) & 1;
  std::array<std::uint64_t, 2> halves;
  std::memcpy(halves.data(), &bytes, sizeof halves);
  return halves[0] * 0x0102040810204080ULL >> 56 | (halves[1] * 0x0102040810204080ULL >> 56) << 8;
}

// Any addresses: the smallest difference (exclusive or) to an earlier lane tells whether a segment of each size was
// touched before. Sixteen lanes are compared with one at a time.
void count_by_pairs(std::uint64_t mask, Addresses const& address, unsigned bytes, GlobalCounts& counts) {
  std::array<std::uint64_t, 3> first_in_half{};
  Sixteen const number{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  for (unsigned h = 0; h < 4; ++h) {
    std::uint64_t const active = mask >> (16 * h) & 0xffff;
    if (!active) continue;
    Sixteen mine, nearest = Sixteen{} - 1;
    std::memcpy(&mine, address.data() + 16 * h, sizeof mine);
    auto const tally = [&](std::array<std::uint16_t, 3>& tx, std::array<std::uint64_t, 3>* first) {
      for (unsigned s = 0; s < 3; ++s) {
        std::uint64_t const fresh = at_least(nearest, 32u << s) & active;
        tx[s] += static_cast<std::uint16_t>(std::popcount(fresh));
        if (first) (*first)[s] |= fresh << (16 * h);
      }
    };
    for (std::uint64_t m = active; m; m &= m - 1) {
      auto const j = static_cast<std::uint32_t>(std::countr_zero(m));
      Sixteen const difference =
          (mine ^ address[16 * h + j]) | (Sixteen)(number <= j);  // all ones: not an earlier lane
      nearest = difference < nearest ? difference : nearest;
    }
    tally(counts.tx[0], &first_in_half);
    auto const compare_with_all = [&](std::uint64_t m) {
      for (; m; m &= m - 1) {
        Sixteen const difference = mine ^ address[std::countr_zero(m)];
        nearest = difference < nearest ? difference : nearest;
      }
    };
    if (h & 1) compare_with_all(mask & half_bits(h - 1));
    tally(counts.tx[1], nullptr);
    if (h & 2) compare_with_all(mask & warp_bits(0));
    tally(counts.tx[2], nullptr);
  }
  shrink(first_in_half[0], first_in_half[1], first_in_half[2], address.data(), bytes, counts.cc13);
}

// A few lanes, as in small or diverged groups: all pairs, without touching the idle lanes.
void count_few(WaveAccess const& a, std::uint32_t phase, GlobalCounts& counts) {
  std::array<std::uint32_t, 64> address;
  std::array<std::uint8_t, few_lanes> lane;
  std::array<std::uint64_t, 3> first_in_half{};
  unsigned n = 0;
  for (std::uint64_t m = a.mask; m; m &= m - 1, ++n) {
    auto const l = static_cast<unsigned>(std::countr_zero(m));
    std::uint32_t const mine = a.offsets[l] + phase;
    std::array<std::uint32_t, 3> nearest{~0u, ~0u, ~0u};  // in the wavefront of each width
    for (unsigned i = 0; i < n; ++i) {
      std::uint32_t const difference = mine ^ address[lane[i]];
      nearest[2] = std::min(nearest[2], difference);
      if (lane[i] / 32 == l / 32) nearest[1] = std::min(nearest[1], difference);
      if (lane[i] / 16 == l / 16) nearest[0] = std::min(nearest[0], difference);
    }
    for (unsigned s = 0; s < 3; ++s) {
      for (unsigned w = 0; w < 3; ++w) counts.tx[w][s] += nearest[w] >= (32u << s);
      first_in_half[s] |= std::uint64_t{nearest[0] >= (32u << s)} << l;
    }
    address[l] = mine;
    lane[n] = static_cast<std::uint8_t>(l);
  }
  shrink(first_in_half[0], first_in_half[1], first_in_half[2], address.data(), a.bytes, counts.cc13);
}

bool any_crosses_or_is_high(WaveAccess const& a, std::uint32_t phase) {
  bool found = false;
  for (std::uint64_t m = a.mask; m; m &= m - 1) {
    std::uint32_t const offset = a.offsets[std::countr_zero(m)];
    found |= ((offset + phase) & 31) + a.bytes > 32 || offset > ~0u - 256;
  }
  return found;
}

}  // namespace

GlobalCounts count_global(WaveAccess const& a) {
  GlobalCounts counts;
  if (!a.mask) return counts;
  // Relative to an aligned address, so that 32 bits are enough unless an offset is near 4 GiB.
  auto const phase = static_cast<std::uint32_t>(a.base & 127);
  if (std::popcount(a.mask) <= few_lanes) {
    if (any_crosses_or_is_high(a, phase)) return count_global_slowly(a);
    count_few(a, phase, counts);
    return counts;
  }
  Addresses address;
  std::uint32_t crossing = 0, highest = 0;
  if (a.mask == ~std::uint64_t{0}) {
    std::memcpy(address.data(), a.offsets, sizeof address);
  } else if ((a.mask & (a.mask + 1)) == 0) {  // the first lanes, as at the end of a group
    auto const active = static_cast<unsigned>(std::popcount(a.mask));
    std::memcpy(address.data(), a.offsets, active * sizeof address[0]);
    std::fill(address.begin() + active, address.end(), address[active - 1]);
  } else {
    for (unsigned l = 0; l < lanes; ++l) address[l] = a.mask >> l & 1 ? a.offsets[l] : 0;
    fill_gaps(a.mask, address);
  }
  for (unsigned l = 0; l < lanes; ++l) {
    highest = std::max(highest, address[l]);
    address[l] += phase;
    crossing |= (address[l] & 31) + a.bytes > 32;
  }
  if (crossing || highest > ~0u - 256) return count_global_slowly(a);
  if (count_by_neighbours(a.mask, address, a.bytes, counts)) return counts;
  if (count_by_bitmap(a.mask, address, a.bytes, counts)) return counts;
  count_by_pairs(a.mask, address, a.bytes, counts);
  return counts;
}

// Each lane is compared with the earlier lanes of its group, all 64 lanes at once: with the neighbour before, then the
// one before that, and so on.
GlobalCounts count_global_of_groups(WaveAccess const& a, std::uint32_t group_lanes, PatternMemo::Weights& weights) {
  GlobalCounts counts;
  std::uint64_t const ones = ~std::uint64_t{0} >> (64 - group_lanes);
  auto const phase = static_cast<std::uint32_t>(a.base & 127);
  constexpr unsigned before = 16;  // lanes that do not exist, so that every lane has neighbours before it
  alignas(64) std::array<std::uint32_t, before + lanes> address, idle;
  std::uint32_t crossing = 0, highest = 0;
  for (unsigned l = 0; l < before; ++l) address[l] = 0, idle[l] = ~0u;
  for (unsigned l = 0; l < lanes; ++l) {
    std::uint32_t const active = 0u - static_cast<std::uint32_t>(a.mask >> l & 1), offset = a.offsets[l] & active;
    idle[before + l] = ~active;
    highest = std::max(highest, offset);
    address[before + l] = offset + phase;
    crossing |= (((offset + phase) & 31) + a.bytes > 32) & active;
  }
  if (crossing || highest > ~0u - 256) {
    for (unsigned begin = 0; begin < lanes; begin += group_lanes) {
      WaveAccess group = a;
      group.mask &= ones << begin;
      if (!group.mask) continue;
      GlobalCounts const some = KERNELCAST_EMU_ISA::count_global(group);
      weights[begin / group_lanes] = static_cast<std::uint8_t>(some.tx[1][0]);
      for (unsigned w = 0; w < 3; ++w)
        for (unsigned s = 0; s < 3; ++s) counts.tx[w][s] += some.tx[w][s];
      for (unsigned s = 0; s < 3; ++s) counts.cc13[s] += some.cc13[s];
    }
    return counts;
  }
  alignas(64) std::array<std::uint32_t, lanes> nearest;
  nearest.fill(~0u);
  for (unsigned distance = 1; distance < group_lanes; ++distance)
    for (unsigned l = 0; l < lanes; ++l) {
      std::uint32_t const other_group = (l & (group_lanes - 1)) < distance ? ~0u : 0;
      std::uint32_t const earlier = before + l - distance;
      nearest[l] = std::min(nearest[l], (address[before + l] ^ address[earlier]) | idle[earlier] | other_group);
    }
  std::array<std::uint64_t, 3> first{};
  for (unsigned s = 0; s < 3; ++s) {
    std::array<std::uint8_t, lanes> flags;
    for (unsigned l = 0; l < lanes; ++l) flags[l] = nearest[l] >= (32u << s);
    first[s] = gather_bits(flags) & a.mask;
    for (unsigned w = 0; w < 3; ++w) counts.tx[w][s] = static_cast<std::uint16_t>(std::popcount(first[s]));
  }
  shrink(first[0], first[1], first[2], address.data() + before, a.bytes, counts.cc13, std::min(group_lanes, 16u));
  for (unsigned g = 0; g < lanes / group_lanes; ++g)
    weights[g] = static_cast<std::uint8_t>(std::popcount(first[0] >> group_lanes * g & ones));
  return counts;
}

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
