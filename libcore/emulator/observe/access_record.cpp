// record_global() and record_shared(): the path of every memory access; see access_site.hpp.

#include <bit>

#include "emulator/observe/counting.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {

namespace {

constexpr std::uint64_t every_lane = ~std::uint64_t{0};

bool same_pattern(PatternMemo const& memo, std::uint32_t const* offsets, std::uint32_t first) {
  std::uint32_t differs = 0;
  if (memo.mask == every_lane)
    for (unsigned l = 0; l < 64; ++l) differs |= (offsets[l] - first) ^ memo.delta[l];
  else
    for (unsigned l = 0; l < 64; ++l) differs |= ((offsets[l] - first) ^ memo.delta[l]) & memo.care[l];
  return differs == 0;
}

// The same for a unit whose last chunk has one warp: the offsets of the second warp do not exist.
bool same_pattern_of_one_warp(PatternMemo const& memo, std::uint32_t const* offsets, std::uint32_t first) {
  std::uint32_t differs = 0;
  for (unsigned l = 0; l < 32; ++l) differs |= ((offsets[l] - first) ^ memo.delta[l]) & memo.care[l];
  return differs == 0;
}

struct GlobalRule {
  static constexpr std::size_t weight = 3;  // tx[w32][s32]
  static AccessCounts count(WaveAccess const& wave) { return flatten(KERNELCAST_EMU_ISA::count_global(wave)); }
  static AccessCounts count_groups(WaveAccess const& wave, std::uint32_t lanes, PatternMemo::Weights& weights) {
    return flatten(KERNELCAST_EMU_ISA::count_global_of_groups(wave, lanes, weights));
  }
  static AccessCounts flatten(GlobalCounts const& counts) {
    AccessCounts flat;
    for (unsigned w = 0; w < 3; ++w)
      for (unsigned s = 0; s < 3; ++s) flat[3 * w + s] = counts.tx[w][s];
    for (unsigned s = 0; s < 3; ++s) flat[9 + s] = counts.cc13[s];
    return flat;
  }
};

struct SharedRule {
  static constexpr std::size_t weight = 4;  // passes[w32][32 banks]
  static AccessCounts count(WaveAccess const& wave) {
    SharedCounts const counts = KERNELCAST_EMU_ISA::count_shared(wave);
    AccessCounts flat{};
    for (unsigned w = 0; w < 3; ++w)
      for (unsigned b = 0; b < 3; ++b) flat[3 * w + b] = counts.passes[w][b];
    return flat;
  }
  static AccessCounts count_groups(WaveAccess const& wave, std::uint32_t lanes, PatternMemo::Weights& weights) {
    AccessCounts sum{};
    for (std::uint32_t g = 0; g < 64 / lanes; ++g) {
      WaveAccess group = wave;
      group.mask &= ~std::uint64_t{0} >> (64 - lanes) << lanes * g;
      if (!group.mask) continue;
      AccessCounts const counts = count(group);
      for (std::size_t i = 0; i < counts_per_access; ++i) sum[i] += counts[i];
      weights[g] = static_cast<std::uint8_t>(counts[weight]);
    }
    return sum;
  }
};

bool same(PatternMemo const& memo, std::uint64_t mask, bool two_warps, std::uint32_t const* offsets,
          std::uint32_t first) {
  return memo.mask == mask &&
         (two_warps ? same_pattern(memo, offsets, first) : same_pattern_of_one_warp(memo, offsets, first));
}

// The memo that holds the pattern, or null. Looks at the last one used, then from there on.
PatternMemo* find(PatternMemos& memos, std::uint64_t mask, bool two_warps, std::uint32_t const* offsets,
                  std::uint32_t first) {
  std::size_t const count = memos.all.size();
  if (count == 0) return nullptr;
  if (PatternMemo& last = *memos.all[memos.current]; same(last, mask, two_warps, offsets, first)) [[likely]]
    return &last;
  if (memos.aside > 0) return nullptr;
  for (std::size_t k = 1; k < count; ++k) {
    std::size_t const at = memos.current + k < count ? memos.current + k : memos.current + k - count;
    PatternMemo& memo = *memos.all[at];
    if (memo.resembles(mask, offsets, first) && same(memo, mask, two_warps, offsets, first)) {
      memos.current = at;
      return &memo;
    }
  }
  return nullptr;
}

bool shares_warps(Lanes const& lanes) {
  return lanes.group_lanes != 0 && lanes.group_lanes < lanes_per_warp;
}

// Groups of fewer than 32 work-items side by side: the memos hold the pattern of all groups that share 64 lanes, and
// the weight of each.
template <class Rule>
void record_small_groups(AccessSite& site, MemoryAccess const& access, Footprint* footprint) {
  std::uint32_t const lanes = access.lanes.group_lanes, groups = 64 / lanes;
  for (std::uint32_t warp = 0; warp < access.lanes.warps; warp += 2) {
    std::uint64_t const mask = access.lanes.masks[warp] | std::uint64_t{access.lanes.masks[warp + 1]} << 32;
    if (!mask) continue;
    site.lanes += static_cast<std::uint64_t>(std::popcount(mask));
    std::uint32_t const* const offsets = access.offsets + std::size_t{lanes_per_warp} * warp;
    std::uint64_t* const running = site.running.data() + lanes_per_warp * warp / lanes;
    PatternMemos& memos = site.memos[warp / 2 % (site.memos.size() / 2)];
    std::uint32_t const first = offsets[std::countr_zero(mask)];
    std::uint64_t const address = access.base + first;
    auto const phase = static_cast<unsigned>(address & 255);
    PatternMemo* memo = find(memos, mask, true, offsets, first);
    if (memo) {
      auto const key = memo->keys[PatternMemo::slot_of(phase)];
      if (key.sectors != PatternMemo::unknown && key.phase == phase) {
        PatternMemo::Phase& known = memo->phases[key.entry];
        ++known.hits;
        for (std::uint32_t g = 0; g < groups; ++g) running[g] += known.weights[g];
        if (footprint && (memo->marked_sector != address >> 5 || memo->marked_list != key.sectors))
          memo->mark(key.sectors, address >> 5, *footprint);
        continue;
      }
    }
    WaveAccess const wave{mask, access.base, offsets, site.bytes};
    PatternMemo::Weights weights{};
    AccessCounts const counts = Rule::count_groups(wave, lanes, weights);
    for (std::uint32_t g = 0; g < groups; ++g) running[g] += weights[g];
    if (memo)
      site.record_phase(*memo, wave, counts, Rule::weight, footprint);
    else
      memo = site.record_pattern(memos, wave, counts, Rule::weight, footprint);
    if (memo) memo->phases[memo->keys[PatternMemo::slot_of(phase)].entry].weights = weights;
  }
}

template <class Rule>
void record(AccessSite& site, MemoryAccess const& access, Footprint* footprint) {
  // 64 lanes at a time, of one group: a group of one warp has no more.
  std::uint32_t const warps = access.lanes.warps, group_lanes = access.lanes.group_lanes;
  std::uint32_t const step = group_lanes == lanes_per_warp ? 1 : 2;
  for (std::uint32_t warp = 0; warp < warps; warp += step) {
    std::uint32_t const chunk = warp / step;
    std::size_t const place = group_lanes ? lanes_per_warp * warp / group_lanes : 0;
    bool const two_warps = step == 2 && warp + 1 < warps;
    std::uint64_t const mask =
        access.lanes.masks[warp] | (two_warps ? std::uint64_t{access.lanes.masks[warp + 1]} << 32 : 0);
    if (!mask) continue;
    site.lanes += static_cast<std::uint64_t>(std::popcount(mask));
    std::uint32_t const* const offsets = access.offsets + std::size_t{lanes_per_warp} * warp;
    PatternMemos& memos = site.memos[chunk % (site.memos.size() / step)];
    std::uint32_t const first = offsets[std::countr_zero(mask)];
    PatternMemo* const memo = find(memos, mask, two_warps, offsets, first);
    if (!memo) {
      WaveAccess const wave{mask, access.base, offsets, site.bytes};
      AccessCounts const counts = Rule::count(wave);
      site.running[place] += counts[Rule::weight];
      site.record_pattern(memos, wave, counts, Rule::weight, footprint);
      continue;
    }
    std::uint64_t const address = access.base + first;
    auto const phase = static_cast<unsigned>(address & 255);
    auto const key = memo->keys[PatternMemo::slot_of(phase)];
    if (key.sectors != PatternMemo::unknown && key.phase == phase) [[likely]] {
      ++memo->phases[key.entry].hits;
      site.running[place] += key.weight;
      if (footprint && (memo->marked_sector != address >> 5 || memo->marked_list != key.sectors))
        memo->mark(key.sectors, address >> 5, *footprint);
    } else {
      WaveAccess const wave{mask, access.base, offsets, site.bytes};
      AccessCounts const counts = Rule::count(wave);
      site.running[place] += counts[Rule::weight];
      site.record_phase(*memo, wave, counts, Rule::weight, footprint);
    }
  }
}

}  // namespace

void record_global(AccessSite& site, MemoryAccess const& access, Footprint& footprint) {
  if (shares_warps(access.lanes)) return record_small_groups<GlobalRule>(site, access, &footprint);
  record<GlobalRule>(site, access, &footprint);
}

void record_shared(AccessSite& site, MemoryAccess const& access) {
  if (shares_warps(access.lanes)) return record_small_groups<SharedRule>(site, access, nullptr);
  record<SharedRule>(site, access, nullptr);
}

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
